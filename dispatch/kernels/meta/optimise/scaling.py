"""Meta kernels of what scales gradients: nothing but checks."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor

__all__ = ["unscale", "update_scale"]


def unscale(self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Both are numbers, in tensors of one element."""
    for name, t in (("found_inf", found_inf), ("inv_scale", inv_scale)):
        if t.numel() != 1:
            raise refused(f"expected {name} to have one element, got {list(t.shape)}")
    for name, t in (("found_inf", found_inf), ("inv_scale", inv_scale)):
        if not t.dtype.is_floating_point:
            raise refused(f"expected {name} of a float dtype, got {t.dtype}")


def update_scale(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """The scale itself."""
    return self
