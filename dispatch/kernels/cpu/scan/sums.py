"""Bodies of scans on the CPU, over numpy.

Called by the structured kernels with an output of the right size and dtype. Input is converted to
the output's dtype first; sums run in a wider dtype (float32's in float64, as PyTorch's on the CPU)
and each is rounded once.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import check_dtype, quiet, store, view

__all__ = ["cumsum"]

# The dtype that is summed in; an output of any other is refused.
_WIDE = {
    uint8: np.uint8,
    int8: np.int8,
    int16: np.int16,
    int32: np.int32,
    int64: np.int64,
    float16: np.float32,
    bfloat16: np.float32,
    float32: np.float64,
    float64: np.float64,
    complex64: np.complex128,
    complex128: np.complex128,
}


def cumsum(out: Tensor, self: Tensor, dim: int, dtype: dtype | None) -> None:
    """The sum of the elements up to each one along `dim`."""
    if out.numel() == 0:
        return
    values = view(self)
    if values.ndim == 0:
        store(out, values)
        return
    check_dtype(out.dtype, _WIDE)
    with quiet():
        values = values.astype(view(out).dtype, copy=False)
        total = np.cumsum(values, axis=dim, dtype=_WIDE[out.dtype])
    store(out, total)
