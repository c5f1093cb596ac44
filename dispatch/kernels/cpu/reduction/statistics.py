"""CPU bodies of order statistics, on numpy.

NaN is larger than every number, unless the operator leaves it out. Half precision is computed in
float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.generated.dtype_sets import ALL_COMPLEX, RARE
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import (
    Array,
    bits,
    check_supported,
    compute,
    quiet,
    store,
    view,
)
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.reduction import statistics as meta

__all__ = [
    "kthvalue",
    "median",
    "median_dim",
    "mode",
    "nanmedian",
    "nanmedian_dim",
]

Dims = Sequence[int] | None

_UNORDERED = RARE | ALL_COMPLEX
_NOT_SELECTED = _UNORDERED | {dtypes.bool}


def _axes(self: Tensor, dim: Dims) -> tuple[int, ...]:
    if not dim or not self.ndim:
        return tuple(range(self.ndim))
    return tuple(rules.wrap_dims(dim, self.ndim))


def _fill(out: Tensor, values: Any) -> None:
    store(out, np.reshape(values, tuple(out.shape)))


def _write(values: Tensor, indices: Tensor, self: Tensor, dim: int, place: Array) -> None:
    source = bits(self).reshape(1) if self.ndim == 0 else bits(self)
    taken = np.take_along_axis(source, place, dim if self.ndim else 0)
    bits(values)[...] = taken.reshape(bits(values).shape)
    view(indices)[...] = place.reshape(view(indices).shape)


def _along(self: Tensor, dim: int) -> tuple[Array, int]:
    """Values with one dimension at least, and the wrapped one."""
    values = compute(self)
    return (values.reshape(1), 0) if self.ndim == 0 else (values, rules.wrap_dim(dim, self.ndim))


def _median_dim(values: Tensor, indices: Tensor, self: Tensor, dim: int, ignore_nan: bool) -> None:
    if not indices.numel():
        return
    check_supported(self, _NOT_SELECTED)
    given, axis = _along(self, dim)
    order = np.argsort(given, axis, kind="stable")
    size = given.shape[axis]
    missing = np.isnan(given) if self.dtype.is_floating_point else np.zeros(given.shape, bool)
    count = size - missing.sum(axis, keepdims=True)
    if ignore_nan:
        k = np.maximum(count - 1, 0) // 2
    else:
        k = np.where(count < size, count, (size - 1) // 2)
    _write(values, indices, self, axis, np.take_along_axis(order, k, axis))


def median_dim(values: Tensor, indices: Tensor, self: Tensor, dim: int, keepdim: bool) -> None:
    """The lower median; NaN if there is one."""
    _median_dim(values, indices, self, dim, False)


def nanmedian_dim(values: Tensor, indices: Tensor, self: Tensor, dim: int, keepdim: bool) -> None:
    """The lower median of the numbers."""
    _median_dim(values, indices, self, dim, True)


@quiet()
def _median(self: Tensor, ignore_nan: bool) -> Tensor:
    out = meta.median(self)
    if not self.numel():
        lowest = True if self.dtype is dtypes.bool else np.nan
        if not self.dtype.is_floating_point and self.dtype is not dtypes.bool:
            lowest = dtypes.iinfo(self.dtype).min
        store(out, lowest)
        return out
    check_supported(self, _NOT_SELECTED)
    values = np.sort(compute(self), axis=None)
    count = (
        values.size - int(np.isnan(values).sum()) if self.dtype.is_floating_point else values.size
    )
    if count == 0 or (count < values.size and not ignore_nan):
        store(out, np.nan)
    else:
        store(out, values[(count - 1) // 2])
    return out


def median(self: Tensor) -> Tensor:
    """The lower median of all elements."""
    return _median(self, False)


def nanmedian(self: Tensor) -> Tensor:
    """The same without NaN."""
    return _median(self, True)


def kthvalue(
    values: Tensor, indices: Tensor, self: Tensor, k: int, dim: int, keepdim: bool
) -> None:
    """The k-th smallest."""
    if self.ndim:
        check_supported(self, _NOT_SELECTED)
    if not indices.numel():
        return
    given, axis = _along(self, dim)
    order = np.argsort(given, axis, kind="stable")
    _write(values, indices, self, axis, np.take(order, [k - 1], axis))


def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The most frequent element, the smallest of equals, and the last place of it."""
    values, indices = meta.mode(self, dim, keepdim)
    check_supported(self, _UNORDERED)
    if not indices.numel():
        return values, indices
    given, axis = _along(self, dim)
    rows = np.moveaxis(given, axis, -1)
    places = np.empty(rows.shape[:-1], np.int64)
    for spot in np.ndindex(*rows.shape[:-1]):
        row = rows[spot]
        kinds, counts = np.unique(row, return_counts=True)
        places[spot] = np.flatnonzero(row == kinds[counts.argmax()])[-1]
    _write(values, indices, self, axis, np.expand_dims(places, axis))
    return values, indices
