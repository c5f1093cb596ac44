"""Shape functions of sort and topk: values and their indices. Called by the structured kernels."""

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["sort", "topk"]


def sort(
    self: Tensor, stable: bool | None, dim: int, descending: bool
) -> tuple[TensorSpec, TensorSpec]:
    """Strides are those of a clone; on Meta, `values` and `indices` that are given get them too."""
    rules.wrap_dim(dim, self.ndim)
    _check_ordered(self)
    strides = rules.dense_like_strides(self)
    if rules.is_eager(self):
        return (
            TensorSpec(self.shape, self.dtype, strides, overlap="self"),
            TensorSpec(self.shape, dtypes.int64, strides, overlap="self"),
        )
    return (
        TensorSpec(self.shape, self.dtype, strides, cast="safe", overlap="any", restride=True),
        TensorSpec(self.shape, dtypes.int64, strides, cast="safe", overlap="any", restride=True),
    )


def topk(
    self: Tensor, k: int, dim: int, largest: bool, sorted: bool
) -> tuple[TensorSpec, TensorSpec]:
    """The `k` first of a sort along `dim`; contiguous."""
    dim = rules.wrap_dim(dim, self.ndim)
    size = self.shape[dim] if self.ndim else 1
    if not 0 <= k <= size:
        raise refused(f"expected k from 0 to {size}, got {k}")
    _check_ordered(self)
    if self.dtype is dtypes.bool and rules.is_eager(self):
        raise refused("self of dtype bool is not supported")
    sizes = list(self.shape)
    if sizes:
        sizes[dim] = k
    return (
        TensorSpec(sizes, self.dtype, overlap="self"),
        TensorSpec(sizes, dtypes.int64, overlap="self"),
    )


def _check_ordered(self: Tensor) -> None:
    """Complex numbers have no order; PyTorch looks when there are some."""
    if self.dtype.is_complex and rules.is_eager(self):
        raise refused(f"self of dtype {self.dtype} is not supported")
