"""CPU bodies of running products, extremes and sums of exponentials, on numpy.

NaN is larger than every number. Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import ALL_COMPLEX, RARE
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import (
    RARE_OR_COMPLEX32,
    bits,
    check_supported,
    compute,
    is_narrow,
    quiet,
    store,
    view,
)

__all__ = ["cummax_helper", "cummin_helper", "cumprod", "logcumsumexp"]


@quiet()
def cumprod(out: Tensor, self: Tensor, dim: int, dtype: Any) -> None:
    """The product of the elements up to each one along `dim`."""
    check_supported(out, RARE_OR_COMPLEX32 | {dtypes.bool})
    values = view(self).astype(view(out).dtype, copy=False)
    if self.ndim and self.numel():
        wide = np.float32 if is_narrow(out.dtype) else values.dtype
        values = np.cumprod(values, axis=dim, dtype=wide)
    store(out, values)


@quiet()
def logcumsumexp(out: Tensor, self: Tensor, dim: int) -> None:
    """log(cumsum(exp(x))), step by step."""
    whole = not (self.dtype.is_floating_point or self.dtype.is_complex)
    if whole or self.dtype in RARE_OR_COMPLEX32:
        raise refused(f"no CPU kernel for {self.dtype}", NotImplementedError)
    values = compute(self)
    if not self.ndim or not self.numel():
        store(out, values)
    elif self.dtype.is_complex:
        top = values.real.max(axis=dim, keepdims=True)
        store(out, np.log(np.cumsum(np.exp(values - top), axis=dim)) + top)
    else:
        store(out, np.logaddexp.accumulate(values.astype(np.float64), axis=dim))


def _running(self: Tensor, values: Tensor, indices: Tensor, dim: int, sign: int) -> None:
    """The last of equal elements counts, and NaN stays."""
    check_supported(self, RARE | ALL_COMPLEX)
    given = np.moveaxis(compute(self), dim, 0)
    found = np.zeros(given.shape, np.int64)
    best = given[0].copy() if given.ndim > 1 else given[:1].copy()
    place = np.zeros(best.shape, np.int64)
    for i in range(len(given)):
        row = given[i].reshape(best.shape)
        better = row >= best if sign > 0 else row <= best
        with quiet():
            better |= row != row
            better &= (best == best) | (row != row)
        np.copyto(best, row, where=better)
        np.copyto(place, i, where=better)
        found[i] = place if given.ndim > 1 else place[0]
    order = np.moveaxis(found, 0, dim)
    bits(values)[...] = np.take_along_axis(bits(self), order, dim)
    view(indices)[...] = order


def cummax_helper(self: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
    """The largest so far, and its place."""
    _running(self, values, indices, dim, 1)


def cummin_helper(self: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
    """The smallest so far, and its place."""
    _running(self, values, indices, dim, -1)
