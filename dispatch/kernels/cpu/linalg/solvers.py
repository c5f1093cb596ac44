"""Bodies of determinants, inverses and solutions of linear systems on the CPU, over LAPACK.

As in PyTorch, determinants factor real row-major matrices as they lie in memory: transposed.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import int32
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor, _set_conj
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, quiet, store, view
from dispatch.kernels.cpu.linalg import lapack
from dispatch.kernels.cpu.linalg.blocks import (
    blocks,
    check_kind,
    finish,
    flat,
    info_for,
    read,
    rows,
    work,
)
from dispatch.kernels.meta.linalg.checks import broadcast_batches, is_vector_rhs

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

_aten = ops.aten


def _check(info: Tensor, numbers: Array, name: str | None, matrix: Tensor) -> None:
    store(info, numbers.reshape(info.shape))
    if name is not None and numbers.any():
        _aten._linalg_check_errors(info, name, is_matrix=matrix.ndim == 2)


# ---- LU factors --------------------------------------------------------------------------------


def _as_transposed(A: Tensor) -> bool:
    return A.is_contiguous() and not A.dtype.is_complex


def _factor(A: Tensor, transposed: bool = False) -> tuple[Array, Array, Array]:
    """Factors as blocks, of A or of A transposed, pivots, and info."""
    a = rows(A) if transposed else blocks(A)
    pivots = np.empty(a.shape[:2], np.int32)
    numbers = np.zeros(a.shape[0], np.int32)
    if a.size:
        check_kind(A)
        lapack.getrf(a, pivots, numbers)
    return a, pivots, numbers


def _store_factors(LU: Tensor, pivots: Tensor, a: Array, found: Array) -> None:
    finish(LU, a)
    store(pivots, found.reshape(pivots.shape))


def _diagonal_and_sign(a: Array, pivots: Array) -> tuple[Array, Array]:
    exchanged = np.count_nonzero(pivots != np.arange(1, pivots.shape[1] + 1), axis=1)
    return np.diagonal(a, axis1=1, axis2=2), 1 - 2 * (exchanged % 2)


@quiet()
def det(result: Tensor, LU: Tensor, pivots: Tensor, A: Tensor) -> None:
    """The product of U's diagonal, and of the signs of the exchanges of rows."""
    a, found, _ = _factor(A, _as_transposed(A))
    diagonal, sign = _diagonal_and_sign(a, found)
    store(result, (sign * diagonal.prod(1, a.dtype)).reshape(result.shape))
    _store_factors(LU, pivots, a, found)


@quiet()
def slogdet(
    sign: Tensor, logabsdet: Tensor, LU: Tensor, pivots: Tensor, A: Tensor
) -> None:
    """Its sign, or phase, and the logarithm of its absolute value."""
    a, found, _ = _factor(A, _as_transposed(A))
    diagonal, exchanges = _diagonal_and_sign(a, found)
    sizes = np.abs(diagonal)
    if A.dtype.is_complex:
        phases = np.where(sizes == 0, 0, diagonal / np.where(sizes == 0, 1, sizes))
    else:
        phases = np.sign(diagonal)
    store(sign, (exchanges * phases.prod(1, a.dtype)).reshape(sign.shape))
    store(logabsdet, np.log(sizes).sum(1).reshape(logabsdet.shape))
    _store_factors(LU, pivots, a, found)


def _expanded(a: Array, batch: tuple[int, ...], wanted: tuple[int, ...]) -> Array:
    """One item for each matrix of `batch` -> one for each of `wanted`."""
    if batch == wanted:
        return a
    tail = a.shape[1:]
    wide = np.broadcast_to(a.reshape(*batch, *tail), (*wanted, *tail))
    return np.ascontiguousarray(wide).reshape(-1, *tail)


def _solved(
    lu: Array, pivots: Array, B: Tensor, shape: tuple[int, ...], left: bool, adjoint: bool
) -> Array:
    """The solution (..., n, k) of AX = B, or of XA = B; `adjoint`: with A's adjoint."""
    if left:
        b = blocks(B, shape)
        lapack.getrs(lu, pivots, b, "C" if adjoint else "N")
        return b.reshape(*shape[:-2], shape[-1], shape[-2]).swapaxes(-1, -2)
    b = rows(B, shape)  # the columns of B transposed, which A transposed is to map to
    if adjoint:
        b = b.conj()
        lapack.getrs(lu, pivots, b, "N")
        return b.conj().reshape(shape)
    lapack.getrs(lu, pivots, b, "T")
    return b.reshape(shape)


def _store_solution(out: Tensor, values: Array, left: bool) -> None:
    """PyTorch's solution of XA = B is lazily conjugate."""
    if out.dtype.is_complex and not left:
        values = values.conj()
        _set_conj(out, True)
    store(out, values)


def lu_solve(
    out: Tensor, LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool
) -> None:
    """Solve with the factors of `lu_factor`."""
    if not out.numel():
        return
    check_kind(LU)
    shape, a_shape = broadcast_batches(B.shape, LU.shape)
    lu = read(LU, a_shape)
    found = np.ascontiguousarray(np.broadcast_to(view(pivots), a_shape[:-1]))
    _store_solution(out, _solved(lu, found.reshape(lu.shape[:2]), B, shape, left, adjoint), left)


def solve_ex(
    result: Tensor,
    LU: Tensor,
    pivots: Tensor,
    info: Tensor,
    A: Tensor,
    B: Tensor,
    left: bool,
    check_errors: bool,
) -> None:
    """Solve AX = B or XA = B."""
    a, found, numbers = _factor(A)
    _store_factors(LU, pivots, a, found)
    _check(info, numbers, "torch.linalg.solve_ex" if check_errors else None, A)
    if not result.numel():
        return
    check_kind(A)
    if is_vector_rhs(A, B):
        result, B = _aten.unsqueeze(result, -1), _aten.unsqueeze(B, -1)
    shape, a_shape = broadcast_batches(B.shape, A.shape)
    batch, wanted = tuple(A.shape[:-2]), tuple(a_shape[:-2])
    a, found = _expanded(a, batch, wanted), _expanded(found, batch, wanted)
    _store_solution(result, _solved(a, found, B, tuple(shape), left, False), left)


def inv_ex(inverse: Tensor, info: Tensor, A: Tensor, check_errors: bool) -> None:
    """Solve for the identity."""
    transposed = _as_transposed(A)
    a, found, numbers = _factor(A, transposed)
    if a.size:
        b = np.zeros_like(a)
        diagonal = np.arange(a.shape[1])
        b[:, diagonal, diagonal] = 1
        lapack.getrs(a, found, b, "T" if transposed else "N")
        finish(inverse, b)
    _check(info, numbers, "linalg.inv_ex" if check_errors else None, A)


# ---- other factors -----------------------------------------------------------------------------


def _raise(numbers: Array, name: str, matrix: Tensor) -> None:
    if numbers.any():
        info = _aten.new_empty(matrix, list(matrix.shape[:-2]), dtype=int32)
        _check(info, numbers, name, matrix)


def cholesky_inverse(out: Tensor, self: Tensor, upper: bool) -> None:
    """The inverse, from the Cholesky factor."""
    if not self.numel():
        return
    check_kind(self)
    numbers = info_for(self)
    a = work(out, self)
    lapack.potri(a, upper, numbers)
    _raise(numbers, "cholesky_inverse", self)
    lapack.clear(a, upper)
    diagonal = np.arange(a.shape[1])
    other = np.array(a.swapaxes(1, 2).conj())
    other[:, diagonal, diagonal] = 0
    a += other
    finish(out, a)


def cholesky_solve_helper(out: Tensor, self: Tensor, A: Tensor, upper: bool) -> None:
    """Solve with the Cholesky factor."""
    if not out.numel():
        return
    check_kind(self)
    numbers = info_for(self)
    b = work(out, self)
    lapack.potrs(read(A), b, upper, numbers)
    if numbers.any():
        raise refused("expected factors of cholesky, LAPACK does not take them")
    finish(out, b)


def ldl_solve(out: Tensor, LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> None:
    """Solve with the factors of `ldl_factor`."""
    if not out.numel():
        return
    check_kind(LD)
    _, a_shape = broadcast_batches(B.shape, LD.shape)
    b, a = work(out, B), read(LD, a_shape)
    found = np.ascontiguousarray(np.broadcast_to(view(pivots), a_shape[:-1]), np.int32)
    lapack.sytrs(a, found.reshape(a.shape[:2]), b, hermitian and LD.dtype.is_complex)
    finish(out, b)


def _triangles(
    A: Tensor, shape: tuple[int, ...], trans: str, upper: bool
) -> tuple[Array, str, bool]:
    """Blocks, and what LAPACK must be told of them; row-major ones are read as transposed."""
    array = view(A)
    if trans == "N" and array.flags.c_contiguous and array.shape == shape:
        return flat(array), "T", not upper
    return read(A, shape), trans, upper


def solve_triangular(
    out: Tensor, self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool
) -> None:
    """Solve with triangular matrices; the other triangle is not read."""
    if self.dtype is not B.dtype:
        raise refused(f"expected self and B to have the same dtype, got {self.dtype} and {B.dtype}")
    if not out.numel():
        return
    check_kind(self)
    self, B = (_aten.resolve_neg(_aten.resolve_conj(t)) for t in (self, B))
    _, a_shape = broadcast_batches(B.shape, self.shape)
    b = work(out, B)
    a, trans, upper = _triangles(self, tuple(a_shape), "N", upper)
    lapack.trsm(a, b, left, upper, trans, unitriangular)
    finish(out, b)


def triangular_solve(
    solution: Tensor,
    cloned_coefficient: Tensor,
    self: Tensor,
    A: Tensor,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> None:
    """The same by its older name; a copy of the coefficients comes with it."""
    if A.numel():
        finish(cloned_coefficient, blocks(A, tuple(cloned_coefficient.shape)))
    if not solution.numel():
        return
    check_kind(self)
    b = work(solution, self)
    a, trans, upper = _triangles(
        A, tuple(cloned_coefficient.shape), "T" if transpose else "N", upper
    )
    lapack.trsm(a, b, True, upper, trans, unitriangular)
    finish(solution, b)
