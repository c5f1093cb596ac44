"""Batches of matrices as LAPACK wants them: blocks (batch, columns, rows), contiguous.

A body starts with `blocks` (a copy to overwrite), `read` (no copy where the memory is right) or
`work` (the output's own memory where that is right), and ends `work` with `finish`.
"""

from __future__ import annotations

import math

import numpy as np

from dispatch._C.dtypes import complex64, complex128, float32, float64
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, view

__all__ = ["KINDS", "blocks", "check_kind", "finish", "flat", "info_for", "read", "rows", "work"]

KINDS = (float32, float64, complex64, complex128)


def check_kind(t: Tensor) -> None:
    """LAPACK has four dtypes."""
    check_dtype(t.dtype, KINDS)


def flat(array: Array) -> Array:
    """One batch dimension in front of the last two."""
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def blocks(t: Tensor, shape: tuple[int, ...] | None = None) -> Array:
    """A copy by columns; `shape`: expanded to it."""
    array = view(t)
    if shape is not None:
        array = np.broadcast_to(array, shape)
    return flat(np.array(array.swapaxes(-1, -2), order="C"))


def rows(t: Tensor, shape: tuple[int, ...] | None = None) -> Array:
    """A copy by rows: the blocks of the transposed matrices."""
    array = view(t)
    if shape is not None:
        array = np.broadcast_to(array, shape)
    return flat(np.array(array, order="C"))


def read(t: Tensor, shape: tuple[int, ...] | None = None) -> Array:
    """By columns, to be read only."""
    array = view(t)
    if shape is not None:
        array = np.broadcast_to(array, shape)
    return flat(np.ascontiguousarray(array.swapaxes(-1, -2)))


def _own(out: Tensor, kind: np.dtype) -> Array | None:
    columns = view(out).swapaxes(-1, -2)
    return flat(columns) if columns.flags.c_contiguous and columns.dtype == kind else None


def work(out: Tensor, source: Tensor) -> Array:
    """`source`, expanded to the output's sizes, by columns, in the output's memory if that fits."""
    own = _own(out, view(source).dtype)
    if own is None or np.may_share_memory(own, view(source)):
        return blocks(source, tuple(out.shape))
    own.reshape(view(out).swapaxes(-1, -2).shape)[...] = view(source).swapaxes(-1, -2)
    return own


def finish(out: Tensor, values: Array) -> None:
    """Blocks into the output, unless they are its memory."""
    own = _own(out, values.dtype)
    if own is None or own.ctypes.data != values.ctypes.data:
        target = view(out).swapaxes(-1, -2)
        np.copyto(target, values.reshape(target.shape), casting="unsafe")


def info_for(t: Tensor) -> Array:
    """Zeros, one for each matrix."""
    return np.zeros(math.prod(t.shape[:-2]), np.int32)
