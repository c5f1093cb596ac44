"""Shape functions of determinants, inverses and solutions of linear systems.

Solutions are column-major, but for XA = B, which is solved by its transpose.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.linalg.checks import (
    broadcast_batches,
    check_floating,
    check_matrix,
    check_same_dtype,
    check_solver,
    check_solver_sides,
    check_square,
    column_major,
    column_strides,
    info_of,
    is_vector_rhs,
    real_of,
    unstructured,
)

__all__ = [
    "cholesky_inverse",
    "cholesky_solve_helper",
    "det",
    "inv_ex",
    "ldl_solve",
    "lu_solve",
    "slogdet",
    "solve_ex",
    "solve_triangular",
    "triangular_solve",
]

Specs = tuple[TensorSpec, ...]


# ---- determinants and inverses -----------------------------------------------------------------


def _lu_of(A: Tensor, copied: bool = False) -> Specs:
    pivots = TensorSpec(A.shape[:-1], dtypes.int32, copied=copied)
    return column_major(A.shape, A.dtype, copied), pivots


def det(A: Tensor) -> Specs:
    check_square("A", A)
    check_floating("A", A)
    return TensorSpec(A.shape[:-2], A.dtype), *_lu_of(A)


def slogdet(A: Tensor) -> Specs:
    check_square("A", A)
    check_floating("A", A, False)
    batch = A.shape[:-2]
    sign = TensorSpec(batch, A.dtype, copied=True)
    return sign, TensorSpec(batch, real_of(A.dtype), copied=True), *_lu_of(A, True)


def inv_ex(A: Tensor, check_errors: bool) -> Specs:
    check_square("A", A)
    check_floating("A", A, False)
    return column_major(A.shape, A.dtype), info_of(A)


def cholesky_inverse(self: Tensor, upper: bool) -> TensorSpec:
    check_square("self", self)
    return unstructured(self.shape, self.dtype, column_strides(self.shape))


# ---- solutions ---------------------------------------------------------------------------------


def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Specs:
    check_floating("A", A)
    check_same_dtype("A", A, "B", B)
    vector = is_vector_rhs(A, B)
    b_shape = (*B.shape, 1) if vector else tuple(B.shape)
    check_solver(A, b_shape, left)
    if vector and not left:
        raise refused("expected matrices B with left=False, got vectors")
    sizes, _ = broadcast_batches(b_shape, A.shape)
    if vector:
        sizes = sizes[:-1]
    strides = column_strides(sizes) if left else None
    restride = not rules.is_eager(A)  # PyTorch's Meta kernel changes outputs that fit, too
    return TensorSpec(sizes, B.dtype, strides, restride=restride), *_lu_of(A), info_of(A)


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> TensorSpec:
    check_floating("LU", LU)
    check_same_dtype("LU", LU, "B", B)
    if pivots.dtype is not dtypes.int32:
        raise refused(f"expected pivots to be int32, got {pivots.dtype}")
    check_solver(LU, B.shape, left, "LU")
    if not rules.same_sizes(LU.shape[:-1], pivots.shape):
        raise refused(
            f"expected pivots of shape {list(LU.shape[:-1])}, got shape {list(pivots.shape)}"
        )
    sizes, _ = broadcast_batches(B.shape, LU.shape)
    return TensorSpec(sizes, B.dtype, column_strides(sizes) if left else None, copied=True)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> TensorSpec:
    check_square("LD", LD)
    check_floating("LD", LD)
    check_solver_sides(LD, B)
    if not rules.same_sizes(LD.shape[:-1], pivots.shape):
        raise refused(
            f"expected pivots of shape {list(LD.shape[:-1])}, got shape {list(pivots.shape)}"
        )
    whole = not (pivots.dtype.is_floating_point or pivots.dtype.is_complex)
    if not whole or pivots.dtype is dtypes.bool:
        raise refused(f"expected pivots to be integers, got {pivots.dtype}")
    sizes, _ = broadcast_batches(B.shape, LD.shape)
    return column_major(sizes, B.dtype, True)


def solve_triangular(
    self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool
) -> TensorSpec:
    check_solver(self, B.shape, left, "self")
    sizes, _ = broadcast_batches(B.shape, self.shape)
    a_major = self.is_conj() and rules.is_contiguous(
        (*self.shape[:-2], self.shape[-1], self.shape[-2]),
        (*self.stride()[:-2], self.stride()[-1], self.stride()[-2]),
    )
    strides = None if a_major else column_strides(sizes)
    return TensorSpec(sizes, self.dtype, strides, overlap="any")


def triangular_solve(
    self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> Specs:
    check_matrix("self", self)
    check_matrix("A", A)
    check_solver_sides(A, self)
    sizes, a_sizes = broadcast_batches(self.shape, A.shape)
    return column_major(sizes, self.dtype, True), column_major(a_sizes, A.dtype, True)


def cholesky_solve_helper(self: Tensor, A: Tensor, upper: bool) -> TensorSpec:
    if A.dtype is not self.dtype:
        raise refused(f"expected A and self of one dtype, got {A.dtype} and {self.dtype}")
    rows = self.shape[-2:-1]
    if self.ndim < 2 or not rules.same_sizes(A.shape, (*self.shape[:-2], *rows, *rows)):
        raise refused(f"A of {list(A.shape)} does not fit self of {list(self.shape)}")
    return column_major(self.shape, self.dtype)
