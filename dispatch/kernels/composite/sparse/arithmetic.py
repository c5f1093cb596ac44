"""Arithmetic of sparse tensors written with other operators.

What plain tensors may be given is computed (a product is a product); the rest ends at the operator
that only a backend with sparse tensors has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "smm",
    "sparse_addmm",
    "sparse_log_softmax_int",
    "sparse_mm",
    "sparse_mm_reduce",
    "sparse_softmax_int",
    "sparse_sum",
    "sparse_sum_dim_dtype",
    "sparse_sum_dtype",
    "sspaddmm",
    "sspaddmm_out",
]

_aten = ops.aten


def sparse_addmm(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta * self + alpha * mat1 @ mat2."""
    return _aten.addmm(self, mat1, mat2, beta=beta, alpha=alpha)


def sparse_mm(sparse: Tensor, dense: Tensor) -> Tensor:
    """sparse @ dense."""
    if sparse.layout is not dtypes.strided and dense.layout is not dtypes.strided:
        return _aten._sparse_sparse_matmul(sparse, dense)
    sizes = [sparse.size(-2), dense.size(-1)]
    start = _aten.zeros(sizes, dtype=dense.dtype, device=dense.device)
    return _aten._sparse_addmm(start, sparse, dense, beta=0, alpha=1)


def sparse_mm_reduce(sparse: Tensor, dense: Tensor, reduce: str) -> Tensor:
    """sparse @ dense with another reduction than the sum."""
    product: Tensor = _aten._sparse_mm_reduce_impl(sparse, dense, reduce)[0]
    return product


def smm(self: Tensor, mat2: Tensor) -> Tensor:
    """self @ mat2, sparse."""
    out = _aten.empty.memory_format([0], dtype=self.dtype, device=self.device)
    return _aten.sspaddmm.out(out, self, mat2, beta=0, alpha=1, out=out)


def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * self + alpha * mat1 @ mat2, sparse."""
    out = _aten.empty.memory_format([0], dtype=self.dtype, device=self.device)
    return _aten.sspaddmm.out(self, mat1, mat2, beta=beta, alpha=alpha, out=out)


def sspaddmm_out(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor
) -> Tensor:
    """Plain tensors have no such product."""
    raise refused(f"expected sparse tensors, got self in {self.layout} layout")


def sparse_sum(self: Tensor) -> Tensor:
    """The sum of all values."""
    return _aten.sum(_aten.values(_aten.coalesce(self)))


def sparse_sum_dtype(self: Tensor, *, dtype: dtypes.dtype) -> Tensor:
    """The sum of all values in another dtype."""
    return _aten.sum(_aten.values(_aten.coalesce(self)), dtype=dtype)


def sparse_sum_dim_dtype(self: Tensor, dim: Sequence[int], *, dtype: dtypes.dtype) -> Tensor:
    """The sum over `dim` in another dtype."""
    return _aten._sparse_sum.dim(_aten.to.dtype(self, dtype), dim)


def sparse_softmax_int(self: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """softmax of the values along `dim`."""
    values = self if dtype is None else _aten.to.dtype(self, dtype)
    return _aten._sparse_softmax(values, dim, False)


def sparse_log_softmax_int(self: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """log_softmax of the values along `dim`."""
    values = self if dtype is None else _aten.to.dtype(self, dtype)
    return _aten._sparse_log_softmax(values, dim, False)
