"""Shape functions of products of vectors and of batches. On every device."""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused, scalar_type
from dispatch._C.placement import check_together
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["addbmm", "addmm_activation", "check_trace", "check_vdot", "trace", "vdot"]


def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any) -> TensorSpec:
    """A matrix that all products are added to."""
    if batch1.ndim != 3 or batch2.ndim != 3:
        raise refused(
            f"expected batches of matrices, got {list(batch1.shape)} and {list(batch2.shape)}",
            IndexError if batch1.ndim < 2 or batch2.ndim < 3 else RuntimeError,
        )
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise refused(f"{list(batch1.shape)} and {list(batch2.shape)} cannot be multiplied")
    sizes = (batch1.shape[1], batch2.shape[2])
    if tuple(rules.broadcast_shapes(self.shape, sizes)) != sizes:
        raise refused(f"self of shape {list(self.shape)} does not fit {sizes}")
    return TensorSpec(sizes, self.dtype)


def addmm_activation(
    self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any, use_gelu: bool
) -> TensorSpec:
    """As `addmm`, then a function of each element."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        raise refused(f"expected matrices, got {list(mat1.shape)} and {list(mat2.shape)}")
    if mat1.shape[1] != mat2.shape[0]:
        raise refused(f"{list(mat1.shape)} and {list(mat2.shape)} cannot be multiplied")
    if not (self.dtype is mat1.dtype is mat2.dtype):
        raise refused(f"expected one dtype, got {self.dtype}, {mat1.dtype} and {mat2.dtype}")
    sizes = (mat1.shape[0], mat2.shape[1])
    if tuple(rules.broadcast_shapes(self.shape, sizes)) != sizes:
        raise refused(f"self of shape {list(self.shape)} does not expand to {list(sizes)}")
    return TensorSpec(sizes, mat1.dtype)


def check_trace(self: Tensor) -> None:
    """A matrix."""
    if self.ndim != 2:
        raise refused(f"expected a matrix, but got tensor with dim {self.ndim}")


def trace(self: Tensor) -> Tensor:
    """One number, in the dtype of a sum."""
    check_trace(self)
    return ops.aten.new_empty(self, [], dtype=rules.sum_type(self.dtype))


def check_vdot(self: Tensor, other: Tensor) -> None:
    """Vectors of one size and dtype."""
    if self.ndim != 1 or other.ndim != 1:
        raise refused(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype is not other.dtype:
        raise refused(
            f"dot : expected both vectors to have same dtype, but found "
            f"{scalar_type(self.dtype)} and {scalar_type(other.dtype)}"
        )
    if self.shape[0] != other.shape[0]:
        raise refused(
            f"inconsistent tensor size, expected tensor {list(self.shape)} and src "
            f"{list(other.shape)} to have the same number of elements"
        )


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """One number."""
    check_vdot(self, other)
    check_together(self=self, other=other)
    return ops.aten.new_empty(self, [])
