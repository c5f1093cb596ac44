"""Factorisations as users call them: over the kernels that give LAPACK's numbers, with checks.

Called for tensors of all kinds. Functional operators and out variants share a function where they
differ in outputs only.
"""

from __future__ import annotations

from dispatch._C import _dispatch_isTensorSubclassLike, dtypes
from dispatch._C.advice import advise_once
from dispatch._C.errors import refused
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.linalg.outputs import new
from dispatch.kernels.meta.linalg.checks import check_matrix
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "cholesky",
    "eigh",
    "eigh_out",
    "eigvals",
    "eigvalsh",
    "eigvalsh_out",
    "ldl_factor",
    "ldl_factor_out",
    "lu_factor",
    "lu_factor_out",
    "lu_with_info",
    "orgqr",
    "qr",
    "qr_out",
    "svd",
    "svd_older",
    "svd_older_out",
    "svd_out",
    "svdvals",
    "svdvals_out",
]

_aten = ops.aten
_Pair = tuple[Tensor, Tensor]
_Triple = tuple[Tensor, Tensor, Tensor]


def _check(info: Tensor, name: str, matrix: Tensor) -> None:
    _aten._linalg_check_errors(info, name, is_matrix=matrix.ndim == 2)


# ---- triangular --------------------------------------------------------------------------------


def cholesky(self: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The triangle whose product with its adjoint is self."""
    if out is None:
        out, info = _aten.linalg_cholesky_ex(self, upper=upper)
    else:
        info = new(self, dtypes.int32)
        _aten.linalg_cholesky_ex.L(self, upper=upper, L=out, info=info)
    _check(info, "linalg.cholesky", self)
    return out


def lu_factor(A: Tensor, *, pivot: bool = True) -> _Pair:
    """Factors in one tensor, and pivots."""
    factors, pivots, info = _aten.linalg_lu_factor_ex(A, pivot=pivot)
    _check(info, "torch.linalg.lu_factor", A)
    return factors, pivots


def lu_factor_out(A: Tensor, *, pivot: bool = True, LU: Tensor, pivots: Tensor) -> _Pair:
    """The same into tensors that are given."""
    info = new(A, dtypes.int32)
    _aten.linalg_lu_factor_ex.out(A, pivot=pivot, LU=LU, pivots=pivots, info=info)
    _check(info, "torch.linalg.lu_factor", A)
    return LU, pivots


def lu_with_info(self: Tensor, pivot: bool = True, check_errors: bool = True) -> _Triple:
    """`lu_factor_ex` by its older name; it never checks."""
    return _aten.linalg_lu_factor_ex(self, pivot=pivot)


def ldl_factor(self: Tensor, *, hermitian: bool = False) -> _Pair:
    """Factors in one tensor, and pivots."""
    factors, pivots, info = _aten.linalg_ldl_factor_ex(self, hermitian=hermitian)
    _check(info, "torch.linalg.ldl_factor", self)
    return factors, pivots


def ldl_factor_out(self: Tensor, *, hermitian: bool = False, LD: Tensor, pivots: Tensor) -> _Pair:
    """The same into tensors that are given."""
    info = new(self, dtypes.int32)
    _aten.linalg_ldl_factor_ex.out(self, hermitian=hermitian, LD=LD, pivots=pivots, info=info)
    _check(info, "torch.linalg.ldl_factor", self)
    return LD, pivots


# ---- orthogonal --------------------------------------------------------------------------------


def qr(self: Tensor, some: bool = True) -> _Pair:
    """`linalg_qr` by its older name."""
    advise_once("qr", "it is deprecated, call linalg_qr")
    return _aten.linalg_qr(self, "reduced" if some else "complete")


def qr_out(self: Tensor, some: bool = True, *, Q: Tensor, R: Tensor) -> _Pair:
    """The same into tensors that are given."""
    advise_once("qr", "it is deprecated, call linalg_qr")
    return _aten.linalg_qr.out(self, "reduced" if some else "complete", Q=Q, R=R)


def orgqr(self: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`linalg_householder_product` by its older name."""
    if out is None:
        return _aten.linalg_householder_product(self, input2)
    return _aten.linalg_householder_product.out(self, input2, out=out)


# ---- eigenvalues -------------------------------------------------------------------------------


def _with_vectors(matrix: Tensor) -> bool:
    """Whether vectors are computed beside values: for gradients, and where somebody looks on."""
    if matrix.requires_grad and is_grad_enabled():
        return True
    return _dispatch_isTensorSubclassLike(matrix)


def eigvals(self: Tensor) -> Tensor:
    """Eigenvalues of general matrices."""
    if _with_vectors(self):
        values: Tensor = _aten.linalg_eig(self)[0]
        return values
    return _aten._linalg_eigvals(self)


def eigh(self: Tensor, UPLO: str = "L") -> _Pair:
    """Eigenvalues and vectors of Hermitian matrices."""
    return _aten._linalg_eigh(self, UPLO, True)


def eigh_out(self: Tensor, UPLO: str = "L", *, eigvals: Tensor, eigvecs: Tensor) -> _Pair:
    """The same into tensors that are given."""
    return _aten._linalg_eigh.eigenvalues(
        self, UPLO, True, eigenvalues=eigvals, eigenvectors=eigvecs
    )


def eigvalsh(self: Tensor, UPLO: str = "L") -> Tensor:
    """The values alone."""
    values: Tensor = _aten._linalg_eigh(self, UPLO, _with_vectors(self))[0]
    return values


def eigvalsh_out(self: Tensor, UPLO: str = "L", *, out: Tensor) -> Tensor:
    """The same into `out`."""
    vectors = new(self)
    _aten._linalg_eigh.eigenvalues(self, UPLO, False, eigenvalues=out, eigenvectors=vectors)
    return out


# ---- singular values ---------------------------------------------------------------------------


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> _Triple:
    """Singular values and vectors."""
    return _aten._linalg_svd(A, full_matrices, True, driver=driver)


def svd_out(
    A: Tensor,
    full_matrices: bool = True,
    *,
    driver: str | None = None,
    U: Tensor,
    S: Tensor,
    Vh: Tensor,
) -> _Triple:
    """The same into tensors that are given."""
    return _aten._linalg_svd.U(A, full_matrices, True, driver=driver, U=U, S=S, Vh=Vh)


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The values alone."""
    values: Tensor = _aten._linalg_svd(A, False, _with_vectors(A), driver=driver)[1]
    return values


def svdvals_out(A: Tensor, *, driver: str | None = None, out: Tensor) -> Tensor:
    """The same into `out`."""
    _aten._linalg_svd.U(A, False, False, driver=driver, U=new(A), S=out, Vh=new(A))
    return out


def _square_sizes(self: Tensor) -> tuple[list[int], list[int]]:
    *batch, m, n = self.shape
    return [*batch, m, m], [*batch, n, n]


def svd_older(self: Tensor, some: bool = True, compute_uv: bool = True) -> _Triple:
    """`linalg_svd` by its older name: V instead of its adjoint; zeros for vectors unwanted."""
    check_matrix("self", self)
    if compute_uv:
        u, s, vh = _aten._linalg_svd(self, not some)
    else:
        s = _aten.linalg_svdvals(self)
        u, vh = (
            _aten.zeros(sizes, dtype=self.dtype, device=self.device)
            for sizes in _square_sizes(self)
        )
    return u, s, _aten.adjoint(vh)


def svd_older_out(
    self: Tensor,
    some: bool = True,
    compute_uv: bool = True,
    *,
    U: Tensor,
    S: Tensor,
    V: Tensor,
) -> _Triple:
    """The same into tensors that are given."""
    check_matrix("self", self)
    for name, out, kind in (
        ("U", U, self.dtype),
        ("S", S, self.dtype.to_real()),
        ("V", V, self.dtype),
    ):
        if out.dtype is not kind:
            raise refused(f"expected {name} to be {kind}, got {out.dtype}")
    if compute_uv:
        if V.ndim >= 2:
            _aten.transpose_(V, -2, -1)
        _aten._linalg_svd.U(self, not some, U=U, S=S, Vh=V)
        _aten.transpose_(V, -2, -1)
        if V.dtype.is_complex:
            _aten.copy_(V, _aten.conj(V))
    else:
        _aten.linalg_svdvals.out(self, out=S)
        for out, sizes in zip((U, V), _square_sizes(self), strict=True):
            _aten.zero_(resize_out(out, sizes))
    return U, S, V
