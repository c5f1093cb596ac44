"""Shapes of pairwise distances: cdist between two sets of points, pdist within one."""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import broadcast_shapes, dense_like_strides, is_eager

__all__ = ["cdist", "cdist_backward", "pdist", "pdist_backward"]


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
    if self.ndim < 2 and is_eager(self):
        raise refused(f"expected self to have 2 dimensions, got {list(self.shape)}", IndexError)
    n = self.size(0)
    return TensorSpec((n * (n - 1) // 2,), self.dtype)


def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> TensorSpec:
    """x1's sizes, with all batches."""
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    n, m, columns = x1.shape[-2], x2.shape[-2], x1.shape[-1]
    if 0 in (n, m, columns, *batch):
        return TensorSpec(x1.shape, x1.dtype, dense_like_strides(x1) if is_eager(x1) else None)
    if is_eager(x1):
        _check_shape("x2", x2, (*x2.shape[:-2], m, columns))
        for name, t in (("grad", grad), ("cdist", cdist)):
            _check_shape(name, t, (*batch, n, m))
    return TensorSpec((*batch, n, columns), x1.dtype)


def _check_shape(name: str, given: Tensor, sizes: tuple[int, ...]) -> None:
    if tuple(given.shape) != sizes:
        raise refused(f"expected {name} of shape {list(sizes)}, got {list(given.shape)}")


def pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> TensorSpec:
    """self's sizes."""
    for name, t in (("self", self), ("pdist", pdist)):
        if not t.is_contiguous():
            raise refused(f"{name} must be contiguous, got strides {list(t.stride())}")
    if is_eager(self) and self.numel():
        n = self.shape[0]
        for name, t in (("grad", grad), ("pdist", pdist)):
            _check_shape(name, t, (n * (n - 1) // 2,))
    return TensorSpec(self.shape, self.dtype)
