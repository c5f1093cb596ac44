"""Functions that run under a setting (torch._higher_order_ops.wrap): what an export makes of a
block of `no_grad` or `autocast`."""

from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.grad_mode import set_grad_enabled
from dispatch._ops import HigherOrderOperator
from dispatch.library.autocast import autocast

__all__ = [
    "Wrap",
    "WrapWithAutocast",
    "WrapWithSetGradEnabled",
    "wrap",
    "wrap_with_autocast",
    "wrap_with_set_grad_enabled",
]

_Function = Callable[..., Any]


class Wrap(HigherOrderOperator):
    """`dispatch.ops.higher_order.wrap(func, *args, **kwargs)`."""

    def __init__(self) -> None:
        super().__init__("wrap")

    def __call__(self, func: _Function, *args: Any, **kwargs: Any) -> Any:
        """`func(*args, **kwargs)`."""
        return func(*args, **kwargs)


class WrapWithSetGradEnabled(HigherOrderOperator):
    """`dispatch.ops.higher_order.wrap_with_set_grad_enabled(enable_grad, wrapped_func, *args)`."""

    def __init__(self) -> None:
        super().__init__("wrap_with_set_grad_enabled")

    def __call__(
        self, enable_grad: bool, wrapped_func: _Function, *args: Any, **kwargs: Any
    ) -> Any:
        """`wrapped_func(*args, **kwargs)` with gradients on, or off."""
        with set_grad_enabled(enable_grad):
            return wrapped_func(*args, **kwargs)


class _AsTraced(autocast):
    """Also for a device that is only a name here: the program was traced where there is one."""

    def __init__(
        self, device: str, dtype: dtypes.dtype | None, enabled: bool, cache_enabled: bool | None
    ) -> None:
        super().__init__(device, dtype, False, cache_enabled)
        self._enabled = enabled


class WrapWithAutocast(HigherOrderOperator):
    """`dispatch.ops.higher_order.wrap_with_autocast(device_type, dtype, enabled, cache_enabled,
    wrapped_func, *args)`."""

    def __init__(self) -> None:
        super().__init__("wrap_with_autocast")

    def __call__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None,
        enabled: bool,
        cache_enabled: bool | None,
        wrapped_func: _Function,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """`wrapped_func(*args, **kwargs)` in a block of `autocast`."""
        with _AsTraced(device_type, dtype, enabled, cache_enabled):
            return wrapped_func(*args, **kwargs)


wrap = Wrap()
wrap_with_autocast = WrapWithAutocast()
wrap_with_set_grad_enabled = WrapWithSetGradEnabled()
