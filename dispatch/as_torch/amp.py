"""Autocast for a `Function`, and by its old names (`torch.amp`, `torch.cpu.amp`).

`custom_fwd` and `custom_bwd` run a formula as its forward ran. What names a device type in its own
name (`get_autocast_gpu_dtype`) is the function that takes it, with a warning.
"""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from dispatch import Tensor
from dispatch._C import dtypes
from dispatch.as_torch.backends import autocast
from dispatch.library import autocast as state

__all__ = [
    "cpu_autocast", "custom_bwd", "custom_fwd", "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype", "is_autocast_cpu_enabled", "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled", "set_autocast_gpu_dtype",
]  # fmt: skip

Method = Callable[..., Any]


def _check(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(
    fwd: Method | None = None, *, device_type: str, cast_inputs: dtypes.dtype | None = None
) -> Any:
    """A decorator of a Function's `forward`, which its context remembers autocast of.

    Args:
        device_type: whose autocast.
        cast_inputs: in a block with autocast, tensors of the device come as this dtype, and
            autocast is off.

    Raises: ValueError for a device type that is no str.
    """
    _check(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        casts = state.is_autocast_enabled(device_type)
        ctx._dtype = state.get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = casts and cast_inputs is None
        if cast_inputs is None or not casts:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            given, named = _cast((args, kwargs), device_type, cast_inputs)
            return fwd(*given, **named)

    return forward


def custom_bwd(bwd: Method | None = None, *, device_type: str) -> Any:
    """A decorator of a Function's `backward`: it runs with the autocast that its `forward` had.

    Raises: ValueError for a device type that is no str.
    """
    _check(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return backward


def _cast(value: Any, device_type: str, dtype: dtypes.dtype) -> Any:
    """The nest with its floating-point tensors of the device as `dtype`."""
    if isinstance(value, Mapping):
        return {k: _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, device_type, dtype) for v in value])
    return state.cast_eligible(value, device_type, dtype) if isinstance(value, Tensor) else value


# ---- old names


def deprecated_block(device_type: str, where: str, dtype: dtypes.dtype) -> type[autocast]:
    """The class of blocks for a device type that takes no device type."""

    class block(autocast):
        def __init__(
            self, enabled: bool = True, dtype: dtypes.dtype = dtype, cache_enabled: bool = True
        ) -> None:
            warnings.warn(
                f"`{where}(args...)` is deprecated. "
                f"Please use `torch.amp.autocast('{device_type}', args...)` instead.",
                FutureWarning,
                stacklevel=2,
            )
            super().__init__(device_type, dtype, enabled, cache_enabled)

    block.__name__ = block.__qualname__ = "autocast"
    return block


cpu_autocast = deprecated_block("cpu", "torch.cpu.amp.autocast", dtypes.bfloat16)


def _named(old: str, function: Method, device_type: str) -> Method:
    def named(*args: Any) -> Any:
        warnings.warn(
            f"torch.{old} is deprecated: use torch.{function.__name__}('{device_type}')",
            DeprecationWarning,
            stacklevel=2,
        )
        return function(device_type, *args)

    named.__name__ = named.__qualname__ = old
    named.__doc__ = f"`{function.__name__}` of {device_type}; deprecated."
    return named


get_autocast_cpu_dtype = _named("get_autocast_cpu_dtype", state.get_autocast_dtype, "cpu")
get_autocast_gpu_dtype = _named("get_autocast_gpu_dtype", state.get_autocast_dtype, "cuda")
is_autocast_cpu_enabled = _named("is_autocast_cpu_enabled", state.is_autocast_enabled, "cpu")
set_autocast_cpu_dtype = _named("set_autocast_cpu_dtype", state.set_autocast_dtype, "cpu")
set_autocast_cpu_enabled = _named("set_autocast_cpu_enabled", state.set_autocast_enabled, "cpu")
set_autocast_gpu_dtype = _named("set_autocast_gpu_dtype", state.set_autocast_dtype, "cuda")
