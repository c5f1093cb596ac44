"""Shapes of pairwise distances: cdist between two sets of points, pdist within one."""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import broadcast_shapes

__all__ = ["cdist", "pdist"]


def check_points(name: str, points: Tensor) -> None:
    if points.ndim < 2:
        raise refused(f"{name} must have at least 2 dimensions, got {list(points.shape)}")


def check_real(name: str, points: Tensor) -> None:
    if not points.dtype.is_floating_point:
        raise refused(f"{name} must be of a float dtype, got {points.dtype}")


def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> TensorSpec:
    check_points("x1", x1)
    check_points("x2", x2)
    if x1.shape[-1] != x2.shape[-1]:
        raise refused(
            f"x1 and x2 must have as many columns, got {list(x1.shape)} and {list(x2.shape)}"
        )
    check_real("x1", x1)
    check_real("x2", x2)
    if not p >= 0:
        raise refused(f"p must not be negative, got {p}")
    if compute_mode not in (None, 0, 1, 2):
        raise refused(f"compute_mode must be 0, 1 or 2, got {compute_mode}")
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return TensorSpec((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)


def pdist(self: Tensor, p: float) -> TensorSpec:
    if not self.is_contiguous():
        raise refused(f"self must be contiguous, got strides {list(self.stride())}")
    n = self.size(0)
    return TensorSpec((n * (n - 1) // 2,), self.dtype)
