"""Bodies of factorisations on the CPU, over LAPACK.

Called by the structured kernels with outputs of the right sizes and dtypes. Each computes in the
output's memory where that is column-major, and copies otherwise. Batches without elements are
filled without LAPACK, which takes no size of 0.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import can_cast, int32
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, compute, quiet, store, view
from dispatch.kernels.cpu.linalg import lapack
from dispatch.kernels.cpu.linalg.blocks import (
    blocks,
    check_kind,
    finish,
    info_for,
    work,
)
from dispatch.kernels.meta.linalg.checks import check_matrix, column_strides

__all__ = [
    "cholesky",
    "cholesky_ex",
    "eig",
    "eigh",
    "eigvals",
    "geqrf",
    "geqrf_out",
    "householder_product",
    "ldl_factor_ex",
    "lu",
    "lu_factor_ex",
    "lu_unpack",
    "ormqr",
    "qr",
    "svd",
]

_aten = ops.aten


def _checked(info: Tensor, numbers: Array, name: str | None, matrix: Tensor) -> None:
    """Write LAPACK's numbers; `name`: raise if there is an error among them."""
    store(info, numbers.reshape(info.shape))
    if name is not None and numbers.any():
        _aten._linalg_check_errors(info, name, is_matrix=matrix.ndim == 2)


def _raise(numbers: Array, name: str, matrix: Tensor) -> None:
    """The same for an operator that returns no info."""
    if numbers.any():
        info = _aten.new_empty(matrix, list(matrix.shape[:-2]), dtype=int32)
        _checked(info, numbers, name, matrix)



# ---- triangular --------------------------------------------------------------------------------


def cholesky_ex(
    L: Tensor, info: Tensor, self: Tensor, upper: bool, check_errors: bool
) -> None:
    """A triangle whose product with its adjoint is self; LAPACK reads one triangle of self."""
    check_kind(self)
    numbers = info_for(self)
    if self.numel():
        a = work(L, self)
        lapack.potrf(a, upper, numbers)
        lapack.clear(a, upper)
        finish(L, a)
    _checked(info, numbers, "linalg.cholesky_ex" if check_errors else None, self)


def cholesky(out: Tensor, self: Tensor, upper: bool) -> None:
    """The same, by its older name, without info."""
    if not self.numel():
        return
    check_kind(self)
    numbers = info_for(self)
    a = blocks(self)
    lapack.potrf(a, upper, numbers)
    _raise(numbers, "cholesky", self)
    lapack.clear(a, upper)
    finish(out, a)


def ldl_factor_ex(
    LD: Tensor,
    pivots: Tensor,
    info: Tensor,
    self: Tensor,
    hermitian: bool,
    check_errors: bool,
) -> None:
    """A lower triangle, of blocks of one or two on the diagonal, and exchanges of rows."""
    check_kind(self)
    numbers = info_for(self)
    if self.numel():
        a = work(LD, self)
        lapack.clear(a, False)
        rows = np.empty(a.shape[:2], np.int32)
        lapack.sytrf(a, rows, hermitian and self.dtype.is_complex, numbers)
        finish(LD, a)
        store(pivots, rows.reshape(pivots.shape))
    _checked(info, numbers, "torch.linalg.ldl_factor_ex" if check_errors else None, self)


def _lu(a: Array) -> tuple[Array, Array]:
    """Factors in place of blocks; pivots and info."""
    pivots = np.empty((a.shape[0], min(a.shape[1:])), np.int32)
    numbers = np.zeros(a.shape[0], np.int32)
    lapack.getrf(a, pivots, numbers)
    return pivots, numbers


def _check_pivoted(pivot: bool) -> None:
    if not pivot:
        raise refused("there is no LU without pivoting on the CPU")


def lu_factor_ex(
    LU: Tensor, pivots: Tensor, info: Tensor, A: Tensor, pivot: bool, check_errors: bool
) -> None:
    """L below the diagonal, which is 1 and not stored, and U above it."""
    numbers = info_for(A)
    if A.numel():
        _check_pivoted(pivot)
        check_kind(A)
        a = work(LU, A)
        rows, numbers = _lu(a)
        finish(LU, a)
        store(pivots, rows.reshape(pivots.shape))
    _checked(info, numbers, "torch.linalg.lu_factor_ex" if check_errors else None, A)


def _unpack_factors(L: Tensor, U: Tensor, a: Array) -> None:
    """`a`: factors (..., m, n)."""
    k = min(a.shape[-2:])
    left = np.tril(a[..., :, :k], -1)
    diagonal = np.arange(k)
    left[..., diagonal, diagonal] = 1
    store(L, left)
    store(U, np.triu(a[..., :k, :]))


def _unpack_pivots(P: Tensor, pivots: Array) -> None:
    m = P.shape[-1]
    if not P.numel():
        return
    rows = np.empty((len(pivots), m), np.int32)
    lapack.permutations(pivots, rows)
    target = np.zeros((len(pivots), m, m), view(P).dtype)
    target[np.arange(len(pivots))[:, None], rows, np.arange(m)] = 1
    store(P, target.reshape(P.shape))


def lu(P: Tensor, L: Tensor, U: Tensor, A: Tensor, pivot: bool) -> None:
    """P @ L @ U."""
    _check_pivoted(pivot)
    m, n = A.shape[-2:]
    if A.numel():
        check_kind(A)
        a = blocks(A)
        pivots, _ = _lu(a)
        values = a.swapaxes(-1, -2).reshape(A.shape)
    else:
        pivots = np.empty((info_for(A).size, min(m, n)), np.int32)
        values = view(A)
    _unpack_factors(L, U, values)
    _unpack_pivots(P, pivots)


def lu_unpack(
    P: Tensor,
    L: Tensor,
    U: Tensor,
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool,
    unpack_pivots: bool,
) -> None:
    """The same from what `lu_factor` gives."""
    if unpack_data:
        _unpack_factors(L, U, compute(LU_data))
    if unpack_pivots:
        pivots = np.ascontiguousarray(view(LU_pivots))
        count = info_for(LU_data).size
        _unpack_pivots(P, pivots.reshape(count, pivots.shape[-1]))


# ---- orthogonal --------------------------------------------------------------------------------


def _qr(a: Array) -> Array:
    tau = np.empty((a.shape[0], min(a.shape[1:])), a.dtype)
    lapack.geqrf(a, tau)
    return tau


def qr(Q: Tensor, R: Tensor, A: Tensor, mode: str) -> None:
    """Columns at right angles times an upper triangle; Q has none with mode "r"."""
    m, n = A.shape[-2:]
    check_kind(A)
    if not A.numel():
        store(R, 0)
        if mode != "r":
            store(Q, np.eye(m, Q.shape[-1]))
        return
    a = blocks(A)
    tau = _qr(a)
    store(R, np.triu(a.swapaxes(-1, -2)[:, : R.shape[-2], :]).reshape(R.shape))
    if mode == "r":
        return
    columns = Q.shape[-1]
    if columns != n:
        wide = np.zeros((a.shape[0], columns, m), a.dtype)
        wide[:, : min(n, columns)] = a[:, :columns]
        a = wide
    lapack.orgqr(a, tau)
    finish(Q, a)


def _tau(t: Tensor) -> Array:
    array = view(t)
    return np.ascontiguousarray(array).reshape(-1, array.shape[-1])


def householder_product(out: Tensor, input: Tensor, tau: Tensor) -> None:
    """The first columns of the product of reflectors."""
    if not input.numel():
        return
    check_kind(input)
    if not tau.numel():
        store(out, np.eye(*input.shape[-2:]))
        return
    a = work(out, input)
    lapack.orgqr(a, _tau(tau))
    finish(out, a)


def ormqr(
    out: Tensor, self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool
) -> None:
    """input3 times the product of the reflectors of self and input2."""
    if not input3.numel():
        return
    check_kind(self)
    if not input2.numel():
        store(out, view(input3))
        return
    c = work(out, input3)
    lapack.ormqr(blocks(self), _tau(input2), c, left, transpose)
    finish(out, c)


def geqrf(self: Tensor) -> tuple[Tensor, Tensor]:
    """QR factors as LAPACK has them: reflectors below the diagonal, and their factors."""
    check_matrix("self", self)
    check_kind(self)
    sizes = list(self.shape)
    a = _aten.new_empty_strided(self, sizes, list(column_strides(sizes)))
    tau = _aten.new_empty(self, [*sizes[:-2], min(sizes[-2:])])
    if self.numel():
        values = work(a, self)
        store(tau, _qr(values).reshape(tau.shape))
        finish(a, values)
    return a, tau


def geqrf_out(self: Tensor, *, a: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    """The same into tensors that are given."""
    made = geqrf(self)
    for out, result in zip((a, tau), made, strict=True):
        if not can_cast(result.dtype, out.dtype):
            raise refused(f"results of {result.dtype} cannot be cast to {out.dtype}")
    *batch, m, n = made[0].shape
    if a.shape != made[0].shape:
        _aten.transpose_(_aten.resize_(a, [*batch, n, m]), -2, -1)
    if tau.shape != made[1].shape:
        _aten.resize_(tau, list(made[1].shape))
    for out, result in zip((a, tau), made, strict=True):
        _aten.copy_(out, result)
    return a, tau


# ---- eigenvalues and singular values -----------------------------------------------------------


def eigh(values: Tensor, vectors: Tensor, A: Tensor, UPLO: str, compute_v: bool) -> None:
    """Of Hermitian matrices, in ascending order; one triangle is read."""
    if not A.numel():
        return
    check_kind(A)
    numbers = info_for(A)
    a = work(vectors, A) if compute_v else blocks(A)
    found = np.empty(a.shape[:2], a.real.dtype)
    lapack.syevd(a, found, UPLO.upper() == "U", compute_v, numbers)
    _raise(numbers, "linalg.eigh", A)
    store(values, found.reshape(values.shape))
    if compute_v:
        finish(vectors, a)


def _check_finite(array: Array) -> None:
    if not np.isfinite(array).all():
        raise refused("expected self to be finite, it has infinities or NaNs")


@quiet()
def _general(self: Tensor, wanted: bool) -> tuple[Array, Array | None]:
    """Eigenvalues and, if wanted, vectors, both complex."""
    check_kind(self)
    a, numbers = blocks(self), info_for(self)
    _check_finite(a)
    vectors = np.empty_like(a) if wanted else None
    values = np.empty(a.shape[:2], a.dtype)
    if self.dtype.is_complex:
        lapack.geev(a, values, None, vectors, numbers)
        _raise(numbers, "torch.linalg.eig", self)
        return values, vectors
    imaginary = np.empty_like(values)
    lapack.geev(a, values, imaginary, vectors, numbers)
    _raise(numbers, "torch.linalg.eig", self)
    if vectors is None:
        return values + 1j * imaginary, None
    complex_vectors = vectors.astype(np.result_type(vectors, np.complex64))
    matrix, first = np.nonzero(imaginary > 0)
    pairs = vectors[matrix, first] + 1j * vectors[matrix, first + 1]
    complex_vectors[matrix, first] = pairs
    complex_vectors[matrix, first + 1] = pairs.conj()
    return values + 1j * imaginary, complex_vectors


def eigvals(out: Tensor, self: Tensor) -> None:
    """Eigenvalues of general matrices."""
    if self.numel():
        values, _ = _general(self, False)
        store(out, values.reshape(out.shape))


def eig(values: Tensor, vectors: Tensor, self: Tensor) -> None:
    """The same with vectors."""
    if self.numel():
        found, columns = _general(self, True)
        store(values, found.reshape(values.shape))
        finish(vectors, columns)


def _fill_identity(t: Tensor) -> None:
    if t.numel():
        store(t, np.eye(*t.shape[-2:]))


def svd(
    U: Tensor,
    S: Tensor,
    Vh: Tensor,
    A: Tensor,
    full_matrices: bool,
    compute_uv: bool,
    driver: str | None,
) -> None:
    """Singular values in descending order and, if wanted, vectors: U @ diag(S) @ Vh."""
    if driver is not None:
        raise refused("driver is for CUDA only, expected None")
    if not A.numel():
        if compute_uv:
            _fill_identity(U)
            _fill_identity(Vh)
        return
    check_kind(A)
    a, numbers = blocks(A), info_for(A)
    count, n, m = a.shape
    values = np.empty((count, min(m, n)), a.real.dtype)
    u = vh = None
    if compute_uv:
        u = np.empty((count, U.shape[-1], m), a.dtype)
        vh = np.empty((count, n, Vh.shape[-2]), a.dtype)
    lapack.gesdd(a, values, u, vh, numbers)
    _raise(numbers, "linalg.svd", A)
    store(S, values.reshape(S.shape))
    if compute_uv:
        finish(U, u)
        finish(Vh, vh)
