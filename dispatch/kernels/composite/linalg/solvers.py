"""Determinants, inverses and solutions as users call them.

Called for tensors of all kinds; what is singular is found in LAPACK's numbers by
`_linalg_check_errors`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.advice import advise_once
from dispatch._C.errors import refused
from dispatch._C.placement import check_together
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.linalg.outputs import into, new
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.linalg.checks import check_matrix, check_solver_sides

__all__ = [
    "cholesky_out",
    "cholesky_solve",
    "cholesky_solve_out",
    "det",
    "inv",
    "inverse",
    "linalg_solve",
    "logdet",
    "lstsq",
    "lu_solve",
    "older_det",
    "older_slogdet",
    "older_slogdet_out",
    "slogdet",
    "slogdet_out",
    "solve_ex",
    "solve_ex_out",
    "tensorinv",
    "tensorsolve",
]

_aten = ops.aten
_Pair = tuple[Tensor, Tensor]


def _check(info: Tensor, name: str, matrix: Tensor) -> None:
    _aten._linalg_check_errors(info, name, is_matrix=matrix.ndim == 2)


# ---- determinants ------------------------------------------------------------------------------


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant."""
    if out is None:
        result: Tensor = _aten._linalg_det(A)[0]
        return result
    _aten._linalg_det.result(A, result=out, LU=new(A), pivots=new(A, dtypes.int32))
    return out


def older_det(self: Tensor) -> Tensor:
    """`linalg_det` by its older name."""
    return _aten.linalg_det(self)


def slogdet(A: Tensor) -> _Pair:
    """Its sign, or phase, and the logarithm of its absolute value."""
    sign, logabsdet, _, _ = _aten._linalg_slogdet(A)
    return sign, logabsdet


def slogdet_out(A: Tensor, *, sign: Tensor, logabsdet: Tensor) -> _Pair:
    """The same into tensors that are given."""
    pivots = new(A, dtypes.int32)
    _aten._linalg_slogdet.sign(A, sign=sign, logabsdet=logabsdet, LU=new(A), pivots=pivots)
    return sign, logabsdet


def older_slogdet(self: Tensor) -> _Pair:
    """`linalg_slogdet` by its older name."""
    return _aten.linalg_slogdet(self)


def older_slogdet_out(self: Tensor, *, sign: Tensor, logabsdet: Tensor) -> _Pair:
    """The same into tensors that are given."""
    return _aten.linalg_slogdet.out(self, sign=sign, logabsdet=logabsdet)


def logdet(self: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where it is negative."""
    check_matrix("self", self)
    sign, logabsdet = _aten.linalg_slogdet(self)
    if self.dtype.is_complex:
        return _aten.add.Tensor(_aten.log(sign), logabsdet)
    negative = _aten.eq.Scalar(sign, -1.0)
    nan = _aten.scalar_tensor(
        math.nan, dtype=logabsdet.dtype, layout=logabsdet.layout, device=logabsdet.device
    )
    return _aten.where.self(negative, nan, logabsdet)


# ---- inverses and solutions --------------------------------------------------------------------


def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse."""
    if out is None:
        out, info = _aten.linalg_inv_ex(A)
    else:
        check_matrix("A", A)
        info = new(A, dtypes.int32)
        _aten.linalg_inv_ex.inverse(A, inverse=out, info=info)
    _check(info, "linalg.inv", A)
    return out


def inverse(self: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`linalg_inv` by its older name."""
    return _aten.linalg_inv(self) if out is None else _aten.linalg_inv.out(self, out=out)


def _solve_into(
    A: Tensor, B: Tensor, left: bool, check_errors: bool, result: Tensor, info: Tensor
) -> None:
    _aten._linalg_solve_ex.result(
        A,
        B,
        left=left,
        check_errors=check_errors,
        result=result,
        LU=_aten.new_empty(B, [0]),
        pivots=_aten.new_empty(B, [0], dtype=dtypes.int32),
        info=info,
    )


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> _Pair:
    """The solution of AX = B or XA = B, and LAPACK's numbers."""
    result, _, _, info = _aten._linalg_solve_ex(A, B, left=left, check_errors=check_errors)
    return result, info


def solve_ex_out(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    result: Tensor,
    info: Tensor,
) -> _Pair:
    """The same into tensors that are given."""
    _solve_into(A, B, left, check_errors, result, info)
    return result, info


def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The solution alone."""
    if out is None:
        out, _, _, info = _aten._linalg_solve_ex(A, B, left=left)
    else:
        info = _aten.new_empty(B, [0], dtype=dtypes.int32)
        _solve_into(A, B, left, False, out, info)
    _check(info, "torch.linalg.solve", A)
    return out


def lu_solve(
    self: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """`linalg_lu_solve` by its older name, its arguments in another order."""
    name = "lu_solve" if out is None else "lu_solve.out"
    advise_once(name, "deprecated, call linalg.lu_solve, whose arguments have another order")
    if out is None:
        return _aten.linalg_lu_solve(LU_data, LU_pivots, self)
    return _aten.linalg_lu_solve.out(LU_data, LU_pivots, self, out=out)


def cholesky_out(self: Tensor, upper: bool = False, *, out: Tensor) -> Tensor:
    """`cholesky` into `out`."""
    advise_once("cholesky.out", "deprecated, call linalg.cholesky")
    return into(out, _aten.cholesky(self, upper))


def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solution of AX = self, where input2 is A's Cholesky factor."""
    for name, t in (("b", self), ("u", input2)):
        if t.ndim < 2:
            raise refused(f"{name} should have at least 2 dimensions, but has {t.ndim} instead")
    check_solver_sides(input2, self)
    check_together(self=self, input2=input2)
    batch = rules.broadcast_shapes(self.shape[:-2], input2.shape[:-2])
    self, input2 = (_aten.expand(t, [*batch, *t.shape[-2:]]) for t in (self, input2))
    return _aten._cholesky_solve_helper(self, input2, upper)


def cholesky_solve_out(self: Tensor, input2: Tensor, upper: bool = False, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    return into(out, _aten.cholesky_solve(self, input2, upper))


def lstsq(
    self: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Least squares: solutions, residuals, ranks and singular values, those that are known."""
    real = self.dtype.to_real()
    return _aten.linalg_lstsq.out(
        self,
        b,
        rcond,
        driver=driver,
        solution=new(self),
        residuals=new(self, real),
        rank=new(self, dtypes.int64),
        singular_values=new(self, real),
    )


# ---- tensors as matrices -----------------------------------------------------------------------


def tensorinv(self: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the matrix whose rows are the first `ind` dimensions."""
    if ind <= 0:
        raise refused(f"Expected a strictly positive integer for 'ind', but got {ind}")
    left, right = list(self.shape[:ind]), list(self.shape[ind:])
    size = math.prod(right)
    if size != math.prod(left):
        raise refused(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), got {left} and {right}"
        )
    result, info = _aten.linalg_inv_ex(_aten.reshape(self, [size, size]))
    _check(info, "inv", result)
    result = _aten.reshape(result, right + left)
    return result if out is None else into(out, result)


def tensorsolve(
    self: Tensor,
    other: Tensor,
    dims: Sequence[int] | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The solution of the system whose rows are self's first dimensions, as many as other has."""
    if dims is not None:
        last = list(range(self.ndim - len(dims), self.ndim))
        self = _aten.movedim.intlist(self, list(dims), last)
    sizes = list(self.shape[other.ndim :])
    size = math.prod(sizes)
    if size != math.prod(other.shape):
        raise refused(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), got {sizes} and {list(other.shape)}"
        )
    square = _aten.reshape(self, [size, size])
    result = _aten.linalg_solve(square, _aten.flatten.using_ints(other))
    result = _aten.reshape(result, sizes)
    return result if out is None else into(out, result)
