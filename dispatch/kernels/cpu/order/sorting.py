"""CPU bodies of sort and topk. NaN is larger than every number, and -0.0 equals 0.0.

Called by the structured kernels with outputs of the right size and dtype. Rows are ordered by
integer keys, by numpy if the sort is to be stable, else by `selection`.
"""

import numpy as np

from dispatch._C.generated.dtype_sets import FLOAT8, RARE
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, bits, check_supported, compute, view
from dispatch.kernels.cpu.order import selection
from dispatch.kernels.meta import rules

__all__ = ["sort", "topk"]


def _order(values: Array, descending: bool) -> Array:
    """Positions of the values in order along the last dimension; equal ones stay in theirs."""
    if not descending:
        return np.argsort(values, -1, kind="stable")
    reverse = np.argsort(values[..., ::-1], -1, kind="stable")
    order: Array = values.shape[-1] - 1 - reverse[..., ::-1]
    return order


def _write(values: Tensor, indices: Tensor, self: Tensor, dim: int, order: Array) -> None:
    """self's elements in an order that is along the last dimension; `values` may be self."""
    taken = np.take_along_axis(np.moveaxis(bits(self), dim, -1), order, -1)
    np.moveaxis(bits(values), dim, -1)[...] = taken
    np.moveaxis(view(indices), dim, -1)[...] = order


def _write_one(values: Tensor, indices: Tensor, self: Tensor) -> None:
    bits(values)[...] = bits(self)
    view(indices)[...] = 0


def sort(
    values: Tensor,
    indices: Tensor,
    self: Tensor,
    stable: bool | None,
    dim: int,
    descending: bool,
) -> None:
    """self sorted along `dim`, and where each element was."""
    if not self.numel():
        return
    if self.ndim == 0:
        return _write_one(values, indices, self)
    dim = rules.wrap_dim(dim, self.ndim)
    if self.shape[dim] > 1:
        check_supported(self, FLOAT8)
    along = np.moveaxis(compute(self), dim, -1)
    if stable or self.shape[dim] <= 16:
        order = _order(along, descending)
    else:
        rows = _rows(along, descending)
        order = np.empty(along.shape, np.int64)
        selection.order(rows, order.reshape(rows.shape))
    _write(values, indices, self, dim, order)


def _keys(values: Array) -> Array:
    """int64 in the order of the values."""
    if values.dtype.kind != "f":
        shift = np.uint64(1 << 63) if values.dtype == np.uint64 else None
        return values.astype(np.int64) if shift is None else (values ^ shift).view(np.int64)
    numbers = values.astype(np.float64) + 0.0  # -0.0 and 0.0 are equal
    raw = numbers.view(np.int64)
    keys: Array = np.where(raw < 0, raw ^ np.iinfo(np.int64).max, raw)
    keys[np.isnan(numbers)] = np.iinfo(np.int64).max
    return keys


def _rows(values: Array, descending: bool) -> Array:
    """Keys as a contiguous matrix, smallest first."""
    keys = _keys(values)
    rows = np.ascontiguousarray(~keys if descending else keys)
    return rows.reshape(-1, rows.shape[-1])


def topk(
    values: Tensor, indices: Tensor, self: Tensor, k: int, dim: int, largest: bool, sorted: bool
) -> None:
    """The `k` largest or smallest along `dim`, and where they were; not `sorted`, in any order."""
    if not values.numel():
        return
    if self.ndim == 0:
        return _write_one(values, indices, self)
    check_supported(self, RARE)
    dim = rules.wrap_dim(dim, self.ndim)
    along = np.moveaxis(compute(self), dim, -1)
    order = np.empty((*along.shape[:-1], k), np.int64)
    selection.first(_rows(along, largest), order.reshape(-1, k), sorted)
    _write(values, indices, self, dim, order)
