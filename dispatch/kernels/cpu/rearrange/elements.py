"""CPU bodies of rearranging and padding, on numpy: elements are moved as plain bits.

Called by the structured kernels with outputs of the right size and dtype.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import RARE
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import (
    RARE_OR_COMPLEX32,
    Array,
    bits,
    check_supported,
    number_of,
    view,
)
from dispatch.kernels.meta import rules

__all__ = [
    "constant_pad_nd",
    "flip",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "repeat",
    "repeat_interleave",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "roll",
    "tril",
    "triu",
]

Ints = Sequence[int]


# ---- rearranging -------------------------------------------------------------------------------


def repeat(out: Tensor, self: Tensor, repeats: Ints) -> None:
    """self, `repeats` times along each dimension; `out`, new, is contiguous."""
    values = bits(self)
    values = values.reshape((1,) * (out.ndim - self.ndim) + values.shape)
    split = [n for pair in zip(repeats, values.shape, strict=True) for n in pair]
    once = [n for size in values.shape for n in (1, size)]
    if out.numel():
        bits(out).reshape(split)[...] = values.reshape(once)


def flip(out: Tensor, self: Tensor, dims: Ints) -> None:
    """self backwards along `dims`."""
    if dims and out.numel():
        check_supported(self, RARE_OR_COMPLEX32)
    values = bits(self)
    bits(out)[...] = np.flip(values, rules.wrap_dims(dims, self.ndim)) if self.ndim else values


def roll(out: Tensor, self: Tensor, shifts: Ints, dims: Ints) -> None:
    """self moved by `shifts` along `dims`, or along all of it, row by row; ends come in again."""
    if not out.numel():
        return
    if self.ndim == 0:
        bits(out)[...] = bits(self)
    elif dims:
        bits(out)[...] = np.roll(bits(self), tuple(shifts), tuple(dims))
    else:
        bits(out)[...] = np.roll(bits(self), shifts[0])


def _kept(self: Tensor, diagonal: int) -> Array:
    """The triangle of a matrix up to a diagonal."""
    rows, columns = self.shape[-2:]
    kept: Array = np.arange(columns) <= np.arange(rows)[:, None] + diagonal
    return kept


def _triangle(out: Tensor, self: Tensor, kept: Array) -> None:
    if not out.numel():
        return
    check_supported(self, RARE)
    if out is not self:
        bits(out)[...] = bits(self)
    target = bits(out)
    np.copyto(target, np.zeros((), target.dtype), where=~kept)


def tril(out: Tensor, self: Tensor, diagonal: int) -> None:
    """Matrices with zeros above a diagonal."""
    _triangle(out, self, _kept(self, diagonal))


def triu(out: Tensor, self: Tensor, diagonal: int) -> None:
    """Matrices with zeros below a diagonal."""
    _triangle(out, self, ~_kept(self, diagonal - 1))


def repeat_interleave(repeats: Tensor, *, output_size: int | None) -> Tensor:
    """Each position as often as `repeats` says. It makes its output: sizes are in values."""
    if repeats.ndim != 1:
        raise refused(f"expected repeats to have 1 dimension, got {list(repeats.shape)}")
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise refused(f"expected repeats to have dtype int32 or int64, got {repeats.dtype}")
    if not repeats.numel():
        return ops.aten.empty_like(repeats)
    counts = view(repeats)
    if counts.min() < 0:
        raise refused(f"expected repeats of 0 or more, got {counts.min()}")
    total = int(counts.sum(dtype=np.int64))
    if output_size is not None and output_size != total:
        raise refused(f"expected output_size {total}, got {output_size}")
    out = ops.aten.new_empty(repeats, [total])
    view(out)[...] = np.repeat(np.arange(counts.size), counts)
    return out


# ---- padding -----------------------------------------------------------------------------------


def constant_pad_nd(out: Tensor, self: Tensor, pad: Ints, value: Any) -> None:
    """self within a border of `value`; negative numbers cut instead."""
    if any(n > 0 for n in pad):
        bits(out)[...] = bits(number_of(value, self.dtype))
    _write_middle(bits(out), bits(self), pad)


def _write_middle(target: Array, values: Array, pad: Ints) -> None:
    """All of the values that the result of padding has, without the border."""
    source: list[slice] = [slice(None)] * values.ndim
    middle: list[slice] = [slice(None)] * values.ndim
    for i in range(len(pad) // 2):
        dim, before, after = values.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        source[dim] = slice(max(-before, 0), max(values.shape[dim] - max(-after, 0), 0))
        middle[dim] = slice(max(before, 0), max(target.shape[dim] - max(after, 0), 0))
    target[tuple(middle)] = values[tuple(source)]


def _reflected(size: int, before: int, after: int) -> Array:
    """Positions along a mirrored dimension."""
    at = np.abs(np.arange(-before, size + after))
    last = size - 1
    positions: Array = last - np.abs(last - at)
    return positions


def _repeated(size: int, before: int, after: int) -> Array:
    """Positions along a dimension whose ends are repeated."""
    return np.clip(np.arange(-before, size + after), 0, size - 1)


def _pad(out: Tensor, self: Tensor, padding: Ints, positions: Any) -> None:
    check_supported(self, RARE_OR_COMPLEX32 | {dtypes.bool})
    values, target = bits(self), bits(out)
    grows = min(padding) >= 0
    if grows:
        _write_middle(target, values, padding)
    for i in range(len(padding) // 2):
        dim, before, after = self.ndim - 1 - i, padding[2 * i], padding[2 * i + 1]
        at = positions(self.shape[dim], before, after)
        if grows:
            _write_border(np.moveaxis(target, dim, 0), at + before, before, after)
        else:
            values = np.take(values, at, dim)
    if not grows:
        target[...] = values


def _write_border(target: Array, at: Array, before: int, after: int) -> None:
    """The first and last slices, from those that `at` says; along others gaps may be left."""
    end = target.shape[0] - after
    target[:before] = target[at[:before]]
    target[end:] = target[at[end:]]


def reflection_pad1d(out: Tensor, self: Tensor, padding: Ints) -> None:
    """The last dimension mirrored at its ends."""
    _pad(out, self, padding, _reflected)


def reflection_pad2d(out: Tensor, self: Tensor, padding: Ints) -> None:
    """The last two dimensions mirrored at their ends."""
    _pad(out, self, padding, _reflected)


def reflection_pad3d(out: Tensor, self: Tensor, padding: Ints) -> None:
    """The last three dimensions mirrored at their ends."""
    _pad(out, self, padding, _reflected)


def replication_pad1d(out: Tensor, self: Tensor, padding: Ints) -> None:
    """The last dimension's ends repeated."""
    _pad(out, self, padding, _repeated)


def replication_pad2d(out: Tensor, self: Tensor, padding: Ints) -> None:
    """The last two dimensions' ends repeated."""
    _pad(out, self, padding, _repeated)


def replication_pad3d(out: Tensor, self: Tensor, padding: Ints) -> None:
    """The last three dimensions' ends repeated."""
    _pad(out, self, padding, _repeated)
