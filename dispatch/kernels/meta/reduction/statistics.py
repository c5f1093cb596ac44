"""Shape functions of order statistics and counts along a dimension. On every device."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["kthvalue", "median", "median_dim", "mode"]


def _reduced(self: Tensor, dim: int, keepdim: bool) -> tuple[int, ...]:
    sizes = list(self.shape)
    if sizes:
        sizes[dim : dim + 1] = [1] if keepdim else []
    return tuple(sizes)


def _check_not_empty(self: Tensor, dim: int) -> None:
    if self.ndim and not rules.holds(self.shape[dim] != 0):
        raise refused(
            f"Expected reduction dim {dim} to have non-zero size, got shape {list(self.shape)}",
            IndexError,
        )


def median(self: Tensor) -> Tensor:
    """One element."""
    return ops.aten.new_empty(self, [])


def _pair(self: Tensor, dim: int, keepdim: bool) -> tuple[TensorSpec, TensorSpec]:
    """An element and its place along `dim`, which is wrapped."""
    sizes, kinds = _reduced(self, dim, keepdim), (self.dtype, dtypes.int64)
    values, places = (TensorSpec(sizes, t, copied=True, overlap="self") for t in kinds)
    return values, places


def median_dim(self: Tensor, dim: int, keepdim: bool) -> Shaped:
    """An element and its place; the body is handed the dimension, wrapped."""
    dim = rules.wrap_dim(dim, self.ndim)
    if rules.is_eager(self):
        _check_not_empty(self, dim)
    return Shaped(_pair(self, dim, keepdim), dim)


def kthvalue(self: Tensor, k: int, dim: int, keepdim: bool) -> Shaped:
    """An element and its place; the body is handed the dimension, wrapped."""
    dim = rules.wrap_dim(dim, self.ndim)
    _check_not_empty(self, dim)
    size = self.shape[dim] if self.ndim else 1
    if not rules.holds(k >= 1) or not rules.holds(k <= size):
        told = f"selected number k out of range for dimension {dim}"
        raise refused(f"{told}: expected 1 to {size}, got {k}")
    return Shaped(_pair(self, dim, keepdim), dim)


def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The Meta kernel, which, but for the CPU, takes an empty dimension."""
    dim = rules.wrap_dim(dim, self.ndim)
    if rules.is_eager(self):
        _check_not_empty(self, dim)
    specs = _pair(self, dim, keepdim)
    first, second = (ops.aten.new_empty(self, list(s.sizes), dtype=s.dtype) for s in specs)
    return first, second
