"""The exponential of matrices on the CPU, and the sums of powers that it is made of."""

from __future__ import annotations

import numpy as np

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, compute, quiet, store, view

__all__ = ["compute_linear_combination", "compute_linear_combination_out", "matrix_exp"]

_aten = ops.aten

# Numerators of the Padé approximants of degree 13 and, for single precision, of degree 7, and the
# 1-norms up to which they are exact (Higham, The scaling and squaring method for the matrix
# exponential revisited, 2005).
_PADE = (
    *(64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0),
    *(129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0),
    *(40840800.0, 960960.0, 16380.0, 182.0, 1.0),
)
_LARGEST = 5.371920351148152
_PADE_OF_SINGLE = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
_LARGEST_OF_SINGLE = 3.925724783138660
_SINGLE_FROM = 96  # rows; smaller matrices of single precision are computed in double


def _parts(a: Array) -> tuple[Array, Array]:
    """The odd powers of the numerator, and the even ones."""
    one = np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    if a.real.dtype == np.float32:
        c = _PADE_OF_SINGLE
        odd, even = c[7] * a6 + c[5] * a4 + c[3] * a2, c[6] * a6 + c[4] * a4 + c[2] * a2
        return a @ (odd + c[1] * one), even + c[0] * one
    b = _PADE
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2)
    odd = a @ (odd + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2)
    return odd, even + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one


def _exponential(a: Array) -> Array:
    """exp of matrices (..., n, n) of floats or complex numbers, by scaling and squaring."""
    norms = np.abs(a).sum(-2).max(-1)
    largest = _LARGEST_OF_SINGLE if a.real.dtype == np.float32 else _LARGEST
    exponents = np.frexp(np.where(np.isfinite(norms), norms, 0) / largest)[1]
    squarings = np.maximum(exponents, 0)
    odd, even = _parts(a / np.ldexp(norms.dtype.type(1), squarings)[..., None, None])
    result: Array = np.linalg.solve(even - odd, even + odd)
    for i in range(int(squarings.max(initial=0))):
        again = squarings > i
        result[again] = result[again] @ result[again]
    return result


@quiet()
def matrix_exp(out: Tensor, self: Tensor) -> None:
    """The exponential, as a power series, of square matrices."""
    if not self.numel():
        return
    values = compute(self)
    if values.shape[-1] < _SINGLE_FROM:
        values = values.astype(np.result_type(values, np.float64))
    finite = np.isfinite(values).all((-1, -2))
    result = np.full(values.shape, np.nan, values.dtype)
    result[finite] = _exponential(values[finite])
    store(out, result)


def _combined(input: Tensor, coefficients: Tensor) -> Array:
    if input.ndim == 0 or not input.numel():
        raise refused(f"expected input to have elements, got shape {list(input.shape)}")
    if coefficients.ndim != 2 or coefficients.shape[1] != input.shape[0]:
        raise refused(
            f"coefficients of {list(coefficients.shape)} do not fit input of {list(input.shape)}"
        )
    return np.tensordot(view(coefficients), view(input), 1)


def compute_linear_combination(input: Tensor, coefficients: Tensor) -> Tensor:
    """For each row of coefficients, the sum of the slices of input that it weighs."""
    values = _combined(input, coefficients)
    out = _aten.new_empty(input, list(values.shape))
    store(out, values)
    return out


def compute_linear_combination_out(
    input: Tensor, coefficients: Tensor, *, out: Tensor
) -> Tensor:
    """The same added to `out`, as PyTorch has it; one of other sizes holds it alone."""
    values = _combined(input, coefficients)
    if tuple(out.shape) != values.shape:
        _aten.resize_(out, list(values.shape))
        _aten.zero_(out)
    store(out, view(out) + values)
    return out
