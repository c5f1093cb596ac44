"""Shape functions of factorisations: triangular, orthogonal, eigenvalues, singular values.

Factors are batches of column-major matrices, as LAPACK writes them; `linalg_lu`, `lu_unpack` and
what has no matrices are row-major.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.linalg.checks import (
    check_floating,
    check_matrix,
    check_same_dtype,
    check_square,
    column_major,
    column_strides,
    complex_of,
    info_of,
    real_of,
    unstructured,
)

__all__ = [
    "cholesky",
    "cholesky_ex",
    "eig",
    "eigh",
    "eigvals",
    "householder_product",
    "ldl_factor_ex",
    "lu",
    "lu_factor_ex",
    "lu_unpack",
    "matrix_exp",
    "ormqr",
    "qr",
    "svd",
]

Specs = tuple[TensorSpec, ...]
_MODES = {"reduced": (True, True), "complete": (True, False), "r": (False, True)}


# ---- triangular --------------------------------------------------------------------------------


def cholesky(self: Tensor, upper: bool) -> TensorSpec:
    """Empty ones keep the row-major order."""
    if 0 in self.shape:
        return unstructured(self.shape, self.dtype)
    check_square("self", self)
    return unstructured(self.shape, self.dtype, column_strides(self.shape))


def cholesky_ex(self: Tensor, upper: bool, check_errors: bool) -> Specs:
    check_square("self", self)
    check_floating("self", self)
    return column_major(self.shape, self.dtype), info_of(self)


def ldl_factor_ex(self: Tensor, hermitian: bool, check_errors: bool) -> Specs:
    check_square("self", self)
    check_floating("self", self)
    pivots = TensorSpec(self.shape[:-1], dtypes.int32, copied=True)
    return column_major(self.shape, self.dtype, True), pivots, info_of(self, True)


def lu_factor_ex(A: Tensor, pivot: bool, check_errors: bool) -> Specs:
    check_matrix("A", A)
    *batch, m, n = A.shape
    pivots = TensorSpec((*batch, rules.smaller(m, n)), dtypes.int32, copied=True)
    return column_major(A.shape, A.dtype, True), pivots, info_of(A, True)


def _unpacked(A: Tensor, permuted: bool, factors: bool) -> Specs:
    """P, L and U; one that is not asked for has no elements."""
    *batch, m, n = A.shape
    k = rules.smaller(m, n)
    p = (*batch, m, m) if permuted else (0,)
    left, right = ((*batch, m, k), (*batch, k, n)) if factors else ((0,), (0,))
    return tuple(TensorSpec(sizes, A.dtype, copied=True) for sizes in (p, left, right))


def lu(A: Tensor, pivot: bool) -> Specs:
    check_matrix("A", A)
    return _unpacked(A, pivot, True)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool
) -> Specs:
    check_matrix("LU_data", LU_data)
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise refused(f"expected LU_pivots to be int32, got {LU_pivots.dtype}")
    return _unpacked(LU_data, unpack_pivots, unpack_data)


# ---- orthogonal --------------------------------------------------------------------------------


def qr(A: Tensor, mode: str) -> Specs:
    check_matrix("A", A)
    check_floating("A", A)
    if mode not in _MODES:
        raise refused(f"expected mode to be one of {list(_MODES)}, got {mode!r}")
    wanted, reduced = _MODES[mode]
    *batch, m, n = A.shape
    k = rules.smaller(m, n) if reduced else m
    q = TensorSpec((0,), A.dtype, copied=True)
    if wanted:
        q = column_major((*batch, m, k), A.dtype, True)
    return q, column_major((*batch, k, n), A.dtype, True)


def _check_reflectors(self: Tensor, tau: Tensor) -> None:
    if self.ndim - tau.ndim != 1 or not rules.same_sizes(tau.shape[:-1], self.shape[:-2]):
        raise refused(
            f"expected a vector of reflectors' factors for each matrix of {list(self.shape)}, got "
            f"{list(tau.shape)}"
        )
    check_same_dtype("the reflectors", self, "their factors", tau)


def householder_product(input: Tensor, tau: Tensor) -> TensorSpec:
    check_matrix("input", input)
    m, n = input.shape[-2:]
    if m < n or n < tau.size(-1):
        raise refused(
            f"expected input of at least as many rows as columns, and as many columns as there are "
            f"reflectors, got {list(input.shape)} and {list(tau.shape)}"
        )
    _check_reflectors(input, tau)
    return unstructured(input.shape, input.dtype, column_strides(input.shape))


def ormqr(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool
) -> TensorSpec:
    check_matrix("self", self)
    check_matrix("input3", input3)
    side, count = input3.shape[-2 if left else -1], input2.size(-1)
    if side < count or side != self.shape[-2] or count > self.shape[-1]:
        raise refused(
            f"{count} reflectors of {list(self.shape)} do not fit input3 of {list(input3.shape)}"
        )
    if self.ndim != input3.ndim or not rules.same_sizes(self.shape[:-2], input3.shape[:-2]):
        raise refused(
            f"expected self and input3 of one batch, got {list(self.shape)} and "
            f"{list(input3.shape)}"
        )
    _check_reflectors(self, input2)
    check_same_dtype("self", self, "input3", input3)
    return unstructured(input3.shape, input3.dtype, column_strides(input3.shape))


# ---- eigenvalues and singular values -----------------------------------------------------------


def eigh(A: Tensor, UPLO: str, compute_v: bool) -> Specs:
    check_square("A", A)
    if UPLO.upper() not in ("U", "L"):
        raise refused(f"expected UPLO to be 'L' or 'U', got {UPLO!r}")
    vectors = TensorSpec((0,), A.dtype, copied=True)
    if compute_v:
        vectors = column_major(A.shape, A.dtype, True)
    return TensorSpec(A.shape[:-1], real_of(A.dtype), copied=True), vectors


def eigvals(self: Tensor) -> TensorSpec:
    check_square("self", self)
    return unstructured(self.shape[:-1], complex_of(self.dtype))


def eig(self: Tensor) -> Specs:
    return eigvals(self), unstructured(
        self.shape, complex_of(self.dtype), column_strides(self.shape)
    )


def svd(A: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None) -> Specs:
    check_matrix("A", A)
    check_floating("A", A)
    *batch, m, n = A.shape
    k = rules.smaller(m, n)
    values = TensorSpec((*batch, k), real_of(A.dtype))
    if not compute_uv:
        none = TensorSpec((0,), A.dtype)
        return none, values, none
    u = column_major((*batch, m, m if full_matrices else k), A.dtype)
    return u, values, column_major((*batch, n if full_matrices else k, n), A.dtype)


# ---- functions of matrices ---------------------------------------------------------------------


def matrix_exp(self: Tensor) -> TensorSpec:
    check_square("self", self)
    check_floating("self", self)
    return TensorSpec(self.shape, self.dtype)
