"""`torch.testing._internal.opinfo.core`: operators with sample arguments, for tests of them all.

`devices.ops` runs a test for each `OpInfo` of a list; `custom_op_db` is such a list.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["OpInfo", "SampleInput"]


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
