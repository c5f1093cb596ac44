"""`torch.testing._internal.opinfo.core`: operators with sample arguments, for tests of them all.

`devices.ops` runs a test for each `OpInfo` of a list; `custom_op_db` is such a list. Kinds of
operators (`UnaryUfuncInfo`, ...) are classes of their own for `isinstance`. `DecorateInfo` says
which tests of an operator get a decorator.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "XS", "AliasInfo", "BinaryUfuncInfo", "DecorateInfo", "ErrorInput", "ForeachFuncInfo", "L", "M",
    "OpInfo", "PythonRefInfo", "ReductionOpInfo", "ReductionPythonRefInfo", "S", "SampleInput",
    "ShapeFuncInfo", "SpectralFuncInfo", "UnaryUfuncInfo",
]  # fmt: skip

L, M, S, XS = 20, 10, 5, 3  # sizes of sample arguments


class SampleInput:
    """Arguments of one call: the first, those behind it, those by keyword."""

    def __init__(
        self,
        input: Any,
        *var_args: Any,
        args: Any = None,
        kwargs: dict[str, Any] | None = None,
        **var_kwargs: Any,
    ) -> None:
        if (args is not None or kwargs is not None) and (var_args or var_kwargs):
            raise AssertionError("SampleInput: give arguments as they are, or `args` and `kwargs`")
        self.input = input
        self.args: tuple[Any, ...] = var_args if args is None else tuple(args)
        self.kwargs = var_kwargs if kwargs is None else kwargs

    def __repr__(self) -> str:
        return f"SampleInput(input={self.input}, args={self.args}, kwargs={self.kwargs})"


@dataclass(repr=False)
class OpInfo:
    """An operator, the dtypes that it takes, and what makes its samples.

    `sample_inputs_func(info, device, dtype, requires_grad, **kwargs)` gives them.
    """

    name: str
    op: Callable[..., Any]
    dtypes: tuple[Any, ...] = ()
    sample_inputs_func: Callable[..., Iterator[SampleInput]] = lambda *_, **__: iter(())
    variant_test_name: str = ""
    supports_autograd: bool = True
    supports_out: bool = True
    decorators: tuple[Any, ...] = ()
    skips: tuple[Any, ...] = ()
    gradcheck_wrapper: Callable[..., Any] = field(
        default=lambda op, *args, **kwargs: op(*args, **kwargs)
    )

    @property
    def full_name(self) -> str:
        """The name and, after a dot, the variant's."""
        return self.name + (f".{self.variant_test_name}" if self.variant_test_name else "")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)

    def sample_inputs(
        self, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any
    ) -> Iterator[SampleInput]:
        """New samples on the device, of the dtype."""
        return self.sample_inputs_func(self, device, dtype, requires_grad, **kwargs)

    def supported_dtypes(self, device_type: str) -> tuple[Any, ...]:
        """The dtypes, on any device."""
        return self.dtypes


class UnaryUfuncInfo(OpInfo):
    """Of one tensor, element by element."""


class BinaryUfuncInfo(OpInfo):
    """Of two tensors, element by element."""


class ReductionOpInfo(OpInfo):
    """Folds dimensions."""


class ShapeFuncInfo(OpInfo):
    """Changes a shape."""


class SpectralFuncInfo(OpInfo):
    """A Fourier transform."""


class ForeachFuncInfo(OpInfo):
    """Of lists of tensors."""


class PythonRefInfo(OpInfo):
    """A decomposition in Python of another operator."""


class ReductionPythonRefInfo(PythonRefInfo):
    """A decomposition of one that folds dimensions."""


@dataclass
class ErrorInput:
    """A sample that is refused: with which error, and a pattern of its text."""

    sample_input: SampleInput
    error_type: Any = RuntimeError
    error_regex: str = ""


class AliasInfo:
    """Another name of an operator: the function, its method, the same in place."""

    def __init__(self, alias_name: str) -> None:
        import dispatch

        self.name = alias_name
        self.op: Any = dispatch
        for part in alias_name.split("."):
            self.op = getattr(self.op, part)
        self.method_variant = getattr(dispatch.Tensor, alias_name, None)
        self.inplace_variant = getattr(dispatch.Tensor, alias_name + "_", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)


class DecorateInfo:
    """Decorators for the tests of an operator that fit what is given: the rest of it counts not."""

    def __init__(
        self,
        decorators: Any,
        cls_name: str | None = None,
        test_name: str | None = None,
        *,
        device_type: str | None = None,
        dtypes: Sequence[Any] | None = None,
        active_if: Any = True,
    ) -> None:
        self.decorators = list(decorators) if isinstance(decorators, Sequence) else [decorators]
        self.cls_name, self.test_name = cls_name, test_name
        self.device_type, self.dtypes, self.active_if = device_type, dtypes, active_if

    def is_active(
        self, cls_name: str, test_name: str, device_type: str, dtype: Any, param_kwargs: Any
    ) -> bool:
        """Whether this test is meant."""
        pairs = (
            (self.cls_name, cls_name), (self.test_name, test_name), (self.device_type, device_type)
        )  # fmt: skip
        meant = all(own is None or own == asked for own, asked in pairs)
        active = self.active_if(param_kwargs) if callable(self.active_if) else self.active_if
        return bool(active) and meant and (self.dtypes is None or dtype in self.dtypes)
