"""CPU body of nan_to_num, on numpy. Called by the structured kernel; out has self's dtype."""

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import finfo
from dispatch._C.generated.dtype_sets import FLOAT8
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, bits, check_supported, compute, quiet, store

__all__ = ["nan_to_num"]


def _replaced(values: Array, nan: float, posinf: float, neginf: float) -> Array:
    result = np.where(np.isnan(values), values.dtype.type(nan), values)
    result[values == np.inf] = posinf
    result[values == -np.inf] = neginf
    return result


def nan_to_num(
    out: Tensor, self: Tensor, nan: float | None, posinf: float | None, neginf: float | None
) -> None:
    """self with numbers for NaN and infinities: 0 and the largest of the dtype, unless given."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        np.copyto(bits(out), bits(self))
        return
    check_supported(self, FLOAT8 | {dtypes.complex32})
    limits = finfo(self.dtype)
    numbers = (
        0.0 if nan is None else nan,
        limits.max if posinf is None else posinf,
        limits.min if neginf is None else neginf,
    )
    values = compute(self)
    with quiet():
        if not self.dtype.is_complex:
            store(out, _replaced(values, *numbers))
            return
        real, imag = _replaced(values.real, *numbers), _replaced(values.imag, *numbers)
    result = bits(out)
    result.real, result.imag = real, imag
