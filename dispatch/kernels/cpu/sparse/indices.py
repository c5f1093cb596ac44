"""Bodies of conversions between the index formats of sparse matrices.

Coordinates name the row of each value; the compressed form says where each row starts.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import int32, int64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import store, view

__all__ = ["coo_to_csr", "csr_to_coo"]


def _check(indices: Tensor) -> None:
    if indices.dtype not in (int32, int64):
        raise refused(f"not implemented for {indices.dtype}", NotImplementedError)


def coo_to_csr(out: Tensor, self: Tensor, size: int, out_int32: bool) -> None:
    """self names rows in ascending order."""
    _check(self)
    rows = view(self).reshape(-1)
    store(out, np.searchsorted(rows, np.arange(size + 1)))


def csr_to_coo(
    out: Tensor, crow_indices: Tensor, col_indices: Tensor, out_int32: bool, transpose: bool
) -> None:
    """Batch coordinates first, then row and column, or column and row."""
    _check(crow_indices)
    starts, columns = view(crow_indices), view(col_indices)
    if not columns.size:
        store(out, 0)
        return
    batch, count = columns.shape[:-1], columns.shape[-1]
    lengths = np.diff(starts, axis=-1).reshape(-1)
    n_rows = starts.shape[-1] - 1
    rows = np.repeat(np.tile(np.arange(n_rows), int(np.prod(batch, dtype=np.int64))), lengths)
    if rows.size != columns.size:
        raise refused(f"crow_indices count {rows.size} values, col_indices {columns.size}")
    pair = [columns.reshape(-1), rows] if transpose else [rows, columns.reshape(-1)]
    places = np.indices(batch).reshape(len(batch), -1) if batch else ()
    store(out, np.stack([*(np.repeat(place, count) for place in places), *pair]))
