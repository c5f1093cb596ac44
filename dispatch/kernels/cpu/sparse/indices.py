"""Bodies of conversions between the index formats of sparse matrices.

Coordinates name the row of each value; the compressed form says where each row starts.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import int32, int64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import store, view

__all__ = ["coo_to_csr", "csr_to_coo", "validate_compressed_sparse_indices"]


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


def validate_compressed_sparse_indices(
    is_crow: bool, compressed_idx: Tensor, plain_idx: Tensor, cdim: int, dim: int, nnz: int
) -> None:
    """Starts ascend from 0 to `nnz`; within a row places ascend, each once, below `dim`."""
    _check(compressed_idx)
    starts = view(compressed_idx).reshape(-1, compressed_idx.size(-1))
    places = view(plain_idx).reshape(len(starts), -1)
    names = ("crow", "col") if is_crow else ("ccol", "row")
    if (starts[:, 0] != 0).any() or (starts[:, -1] != nnz).any():
        raise refused(f"expected {names[0]}_indices from 0 to {nnz}")
    lengths = np.diff(starts, axis=1)
    if ((lengths < 0) | (lengths > dim)).any():
        raise refused(f"expected {names[0]}_indices that ascend by 0 to {dim}")
    if ((places < 0) | (places >= dim)).any():
        raise refused(f"expected {names[1]}_indices from 0 to {dim - 1}")
    for row, ends in zip(places, starts, strict=True):
        steps = np.diff(row.astype(np.int64))
        within = np.ones(len(steps), dtype=bool)
        within[ends[1:-1][(ends[1:-1] > 0) & (ends[1:-1] < nnz)] - 1] = False
        if (steps[within] <= 0).any():
            raise refused(f"expected {names[1]}_indices that ascend, each once")
