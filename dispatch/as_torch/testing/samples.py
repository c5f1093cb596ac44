"""`torch.testing._internal.common_modules` and `common_optimizers`: tests for each of a list.

The lists (`absent.module_db`, `absent.optim_db`) are empty here; a program may give its own.
"""

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dispatch.as_torch.testing.case import Case, parametrize
from dispatch.as_torch.testing.dtype_lists import floating_types
from dispatch.as_torch.testing.marks import dtype_name

__all__ = [
    "ErrorModuleInput", "FunctionInput", "ModuleErrorEnum", "ModuleInfo", "ModuleInput",
    "TrainEvalMode", "modules", "optims",
]  # fmt: skip

TrainEvalMode = enum.Enum("TrainEvalMode", "train_only eval_only train_and_eval")


class ModuleErrorEnum(enum.Enum):
    """Where a module refuses its arguments."""

    CONSTRUCTION_ERROR = 0
    FORWARD_ERROR = 1


class FunctionInput:
    """Arguments of one call."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs


@dataclass
class ModuleInput:
    """What one module is made with and called with; `reference_fn(module, parameters, ...)`."""

    constructor_input: FunctionInput
    forward_input: FunctionInput | None = None
    desc: str = ""
    reference_fn: Callable[..., Any] | None = None


@dataclass
class ErrorModuleInput:
    """A `ModuleInput` that is refused, where, and with which error."""

    module_error_input: ModuleInput
    error_on: ModuleErrorEnum = ModuleErrorEnum.CONSTRUCTION_ERROR
    error_type: Any = RuntimeError
    error_regex: str = ""


@dataclass
class ModuleInfo:
    """A class of modules, its dtypes, and what makes its samples.

    `module_inputs_func(info, device, dtype, requires_grad, training, **kwargs)` gives them.
    """

    module_cls: type
    module_inputs_func: Callable[..., Any]
    dtypes: tuple[Any, ...] = field(default_factory=lambda: floating_types())
    train_and_eval_differ: bool = False

    @property
    def formatted_name(self) -> str:
        """The class's name as part of a test's."""
        return f"nn_{self.module_cls.__name__}"


class modules(parametrize):
    """A decorator: the test runs for each module of a list, its dtypes, and both ways to run."""

    def __init__(
        self,
        module_info_iterable: Iterable[Any],
        allowed_dtypes: Iterable[Any] | None = None,
        train_eval_mode: TrainEvalMode = TrainEvalMode.train_and_eval,
        skip_if_dynamo: bool = True,
    ) -> None:
        super().__init__("module_info", module_info_iterable)
        self.allowed = None if allowed_dtypes is None else set(allowed_dtypes)
        only = TrainEvalMode.train_only, TrainEvalMode.eval_only
        self.flags = [flag for flag, other in zip((True, False), reversed(only), strict=True)
                      if train_eval_mode is not other]  # fmt: skip

    def cases(self) -> Iterator[Case]:
        for info in self.values:
            flags = self.flags if info.train_and_eval_differ else self.flags[:1]
            for training in flags:
                mode = ("_train_mode" if training else "_eval_mode") * (len(flags) > 1)
                for dtype in info.dtypes:
                    if self.allowed is None or dtype in self.allowed:
                        arguments = {"module_info": info, "dtype": dtype, "training": training}
                        yield info.formatted_name + mode, dtype_name(dtype), arguments, []


class optims(parametrize):
    """A decorator: the test runs for each optimizer of a list."""

    def __init__(self, optim_info_iterable: Iterable[Any], dtypes: Any = None) -> None:
        super().__init__("optim_info", optim_info_iterable)
        self.dtypes = [None] if dtypes is None else list(dtypes)

    def cases(self) -> Iterator[Case]:
        for info in self.values:
            for dtype in self.dtypes:
                last = "" if dtype is None else dtype_name(dtype)
                yield info.name, last, {"optim_info": info, "dtype": dtype}, []
