"""Older names of norms, written with the newer ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.advice import advise_once
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused, unserved
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "frobenius_norm",
    "frobenius_norm_out",
    "linalg__powsum",
    "nuclear_norm",
    "nuclear_norm_dim",
    "nuclear_norm_dim_out",
    "nuclear_norm_out",
]

_aten = ops.aten


def _check_dims(dim: Sequence[int]) -> None:
    if len(dim) > 2:
        raise refused(f"expected dim to name at most 2 dimensions, got {list(dim)}")


def frobenius_norm(self: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """The 2-norm over one dimension or two."""
    _check_dims(dim)
    return _aten.norm.ScalarOpt_dim(self, 2.0, list(dim), keepdim)


def frobenius_norm_out(
    self: Tensor, dim: Sequence[int], keepdim: bool = False, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    _check_dims(dim)
    return _aten.norm.out(self, 2.0, list(dim), keepdim, out=out)


def _advise_nuclear() -> None:
    advise_once("nuclear_norm", "deprecated, call linalg.matrix_norm(A, 'nuc')")


def nuclear_norm(self: Tensor, keepdim: bool = False) -> Tensor:
    """The sum of a matrix's singular values."""
    _advise_nuclear()
    return _aten.linalg_matrix_norm.str_ord(self, "nuc", [-2, -1], keepdim)


def nuclear_norm_out(self: Tensor, keepdim: bool = False, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    _advise_nuclear()
    return _aten.linalg_matrix_norm.str_ord_out(self, "nuc", [-2, -1], keepdim, out=out)


def nuclear_norm_dim(self: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """The nuclear norm of the matrices that two dimensions span."""
    _advise_nuclear()
    return _aten.linalg_matrix_norm.str_ord(self, "nuc", list(dim), keepdim)


def nuclear_norm_dim_out(
    self: Tensor, dim: Sequence[int], keepdim: bool = False, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    _advise_nuclear()
    return _aten.linalg_matrix_norm.str_ord_out(self, "nuc", list(dim), keepdim, out=out)


def linalg__powsum(
    self: Tensor,
    ord: Any = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """The sum of |x|**ord: a norm before its root is taken."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise unserved(self.dtype)
    given = self if dtype is None else _aten.to.dtype(self, dtype)
    powers = _aten.pow.Tensor_Scalar(_aten.abs(given), ord)
    return _aten.sum.dim_IntList(powers, dim, keepdim)
