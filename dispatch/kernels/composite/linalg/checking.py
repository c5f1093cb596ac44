"""What LAPACK's numbers mean: errors of factorisations that did not go through."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import LinAlgError, refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["check_errors"]

_aten = ops.aten

_SINGULAR = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular"
)
_NOT_POSITIVE = (
    "The factorization could not be completed: the leading minor of order {} is not "
    "positive-definite"
)
_EIGENVALUES = "no convergence: matrix is ill-conditioned or repeats eigenvalues (code {})"

# Part of an operator's name -> what a positive number says, PyTorch's order.
_MEANINGS = (
    ("inv", _SINGULAR),
    ("solve", "The solver failed because the input matrix is singular (code {})"),
    ("cholesky", _NOT_POSITIVE),
    ("svd", "no convergence: matrix is ill-conditioned or repeats singular values (code {})"),
    ("eig", _EIGENVALUES),
    ("syevd", _EIGENVALUES),
    ("lstsq", "the matrix does not have full rank (code {})"),
)


def _first(info: Tensor, is_matrix: bool) -> tuple[int, str]:
    """The first number that is not 0, and which matrix it belongs to."""
    if is_matrix:
        number: Any = info.item()
        return number, ""
    numbers = _aten.reshape(info, [-1]).tolist()
    place = next(i for i, number in enumerate(numbers) if number)
    return numbers[place], f": (Batch element {place})"


def check_errors(info: Tensor, api_name: str, *, is_matrix: bool) -> None:
    """Raise for the first number that is not 0; nothing where there are only sizes."""
    if info.dtype is not dtypes.int32:
        raise refused(f"expected info to be int32, got {info.dtype}")
    if not rules.is_eager(info) or not bool(_aten.any(info)):
        return
    number, where = _first(info, is_matrix)
    name = f"{api_name}{where}"
    if number == -4 and "svd" in api_name:
        raise refused(f"{name}: no convergence: matrix has infinities or NaNs", LinAlgError)
    if number < 0:
        raise refused(f"{name}: LAPACK refused its argument {-number}")
    for part, meaning in _MEANINGS:
        if part in api_name:
            raise refused(f"{name}: {meaning.format(number)}", LinAlgError)
    if "lu_factor" in api_name:
        raise refused(
            f"{name}: U[{number},{number}] is zero, solving with it would divide by 0; linalg_lu"
            " and linalg_lu_factor_ex factor all the same"
        )
    raise refused(f"{name}: unknown code {number}")
