"""`torch.cuda.amp`: `torch.amp` of CUDA, under names that are deprecated."""

import warnings
from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch.as_torch import amp

__all__ = ["autocast", "custom_bwd", "custom_fwd"]

autocast = amp.deprecated_block("cuda", "torch.cuda.amp.autocast", dtypes.float16)


def _warn(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}(args..., device_type='cuda')` instead.",
        FutureWarning,
        stacklevel=3,
    )


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, cast_inputs: dtypes.dtype | None = None
) -> Any:
    """`torch.amp.custom_fwd` of CUDA."""
    _warn("custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """`torch.amp.custom_bwd` of CUDA."""
    _warn("custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
