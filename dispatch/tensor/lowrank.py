"""Approximate singular values of large matrices (torch._lowrank), by random projections.

The range of a matrix is found by multiplying it with a few random vectors, refined by rounds of
multiplication (Halko, Martinsson, Tropp 2009, algorithms 4.4 and 5.1); the small matrix that is
left is decomposed exactly.
"""

from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.tensor.functions import asks

__all__ = ["pca_lowrank", "svd_lowrank"]

_aten = ops.aten


def _orthogonal(m: Tensor) -> Tensor:
    found: Tensor = _aten.linalg_qr(m)[0]
    return found


def _range(a: Tensor, q: int, niter: int) -> Tensor:
    """Q with q orthonormal columns that span most of the range of `a`."""
    start = _aten.randn([a.shape[-1], q], dtype=a.dtype, device=a.device)
    found = _orthogonal(_aten.matmul(a, start))
    for _ in range(niter):
        found = _orthogonal(_aten.matmul(a.mH, found))
        found = _orthogonal(_aten.matmul(a, found))
    return found


def _decomposed(a: Tensor, q: int, niter: int, mean: Tensor | None) -> Any:
    a = a if mean is None else a - mean
    wide = a.shape[-2] < a.shape[-1]
    if wide:
        a = a.mH
    basis = _range(a, q, niter)
    u, s, vh = _aten.linalg_svd(_aten.matmul(basis.mH, a), False)
    u, v = _aten.matmul(basis, u), vh.mH
    return (v, s, u) if wide else (u, s, v)


@asks
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> Any:
    """U, S, V of rank q, so that A - M is about `U @ diag(S) @ V.mH` (torch.svd_lowrank).

    Args:
        A: (*, m, n). q: a little more than the rank that is looked for. niter: rounds.
        M: a mean to take away, of A's sizes.
    """
    return _decomposed(A, 6 if q is None else q, 2 if niter is None else niter, M)


@asks
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """The principal components of the rows of A: U, S, V as of `svd_lowrank` (torch.pca_lowrank).

    Args:
        A: (*, m, n). q: at most min(m, n), by default min(6, m, n). center: take the columns'
            means away first. niter: rounds.

    Raises:
        ValueError: q or niter is out of range.
        RuntimeError: A is neither floating nor complex.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than {min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(f"pca_lowrank: expected a floating or complex dtype, got {A.dtype}")
    return _decomposed(A, q, niter, A.mean(dim=-2, keepdim=True) if center else None)
