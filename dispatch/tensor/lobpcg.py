"""The largest or smallest eigenvalues of a symmetric problem (torch.lobpcg), by a whole one.

PyTorch iterates; here the problem is decomposed exactly (`linalg_eigh`), so what steers the
iteration (`iK`, `niter`, `tol`, `method`, the `ortho_` parameters) changes nothing, and `tracker`
is never called. With B the problem is first brought to the form without by B's Cholesky factor.
"""

from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.tensor.functions import asks

__all__ = ["lobpcg"]

_aten = ops.aten


@asks
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """E and X so that `A @ X` is about `B @ X * E`: k eigenvalues and their vectors.

    Args:
        A: (*, m, m), symmetric. B: of A's sizes, positive definite; without it the identity.
        k: how many (by default as many as X has columns, or 1). X: (*, m, n), a first guess,
            of which the sizes count. n: the sizes of a guess that is not given.
        largest: from the largest down (by default), or from the smallest up.

    Raises:
        ValueError: fewer rows than three for each column of the guess.
        RuntimeError: A is not square, B of other sizes than A.
    """
    rows = A.shape[-1]
    if A.dim() < 2 or A.shape[-2] != rows:
        raise RuntimeError(f"lobpcg: expected a square A, got the shape {tuple(A.shape)}")
    if B is not None and B.shape != A.shape:
        shapes = f"{tuple(A.shape)} and {tuple(B.shape)}"
        raise RuntimeError(f"lobpcg: expected A and B of the same sizes, got {shapes}")
    if k is None:
        k = 1 if X is None else X.shape[-1]
    columns = X.shape[-1] if X is not None else k if n is None else n
    if rows < 3 * columns:
        raise ValueError(f"lobpcg: {rows} rows of A are too few for {columns} columns")
    if B is None:
        values, vectors = _aten.linalg_eigh(A)
    else:
        factor = _aten.linalg_cholesky(B)
        half = _aten.linalg_solve_triangular(factor, A, upper=False)
        whole = _aten.linalg_solve_triangular(factor, half.mH, upper=False)
        values, vectors = _aten.linalg_eigh(whole)
        vectors = _aten.linalg_solve_triangular(factor.mH, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :k], vectors[..., :k]
