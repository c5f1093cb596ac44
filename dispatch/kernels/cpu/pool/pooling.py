"""Bodies of pooling: the largest or the mean value of windows, adaptive means, their gradients.

Called by the structured kernels with outputs of the right size. Each body walks over the taps of a
window and leaves positions to numpy. A window that reaches beyond the input (padding, ceil_mode)
sees a neutral value there; `Geometry` comes from the rules that the shape functions use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dispatch._C.dtypes import (
    channels_last,
    contiguous_format,
    dtype,
    float32,
    float64,
    int64,
)
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING, INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view
from dispatch.kernels.cpu.windows import Geometry, crop, padded, taps
from dispatch.kernels.meta.pool.pooling import Window
from dispatch.kernels.meta.rules import strides_for, suggest_memory_format

__all__ = [
    "adaptive_avg_pool",
    "adaptive_avg_pool_backward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool3d",
]

Ints = Sequence[int]


_resize_ = ops.aten.resize_.default


def geometry(out: Ints, ws: Sequence[Window]) -> Geometry:
    """What the shape function worked out, with the positions of the windows in an output."""
    return Geometry(
        tuple(w.kernel for w in ws),
        tuple(w.stride for w in ws),
        tuple(w.padding for w in ws),
        tuple(w.dilation for w in ws),
        tuple(out[-len(ws) :]),
    )


# ---- largest -----------------------------------------------------------------------------------


def lowest(kind: np.dtype) -> float:
    return -math.inf if kind.kind == "f" else int(np.iinfo(kind).min)


def best_taps(x: Array, g: Geometry) -> tuple[Array, Array]:
    """The largest value of each window and 1 + the tap where it is; tap 0: nowhere above lowest.

    The first of equal values counts, of several NaN the last.
    """
    source = padded(x, g, lowest(x.dtype))
    count = math.prod(g.kernel)
    has_nan = x.dtype.kind == "f" and bool(np.isnan(x).any())
    like = source[(..., *next(taps(g))[1])]
    values = np.full_like(like, lowest(x.dtype))
    best = np.zeros_like(values, np.uint8 if count < 256 else np.int32)
    above = np.empty_like(values, bool)
    one = best.dtype.type
    for number, at in taps(g):
        seen = source[(..., *at)]
        np.greater(seen, values, out=above)
        if has_nan:
            above |= np.isnan(seen)
        np.maximum(values, seen, out=values)
        np.maximum(best, above * one(number + 1), out=best)
    return values, best


def flat_positions(best: Array, g: Geometry, sizes: Ints) -> Array:
    """Where in the flattened spatial dimensions of the input the best taps are."""
    dims = len(sizes)
    base = np.zeros(g.out, np.int64)
    start = np.zeros(g.out, np.int64)
    offset = np.zeros(g.kernel, np.int64)
    for i, size in enumerate(sizes):
        shape = [-1 if j == i else 1 for j in range(dims)]
        corner = np.arange(g.out[i]) * g.stride[i] - g.padding[i]
        d = g.dilation[i]
        inside = np.where(corner < 0, corner + -(corner // d) * d, corner)
        base = base * size + corner.reshape(shape)
        start = start * size + inside.reshape(shape)
        offset = offset * size + (np.arange(g.kernel[i]) * d).reshape(shape)
    table = np.concatenate([[0], offset.reshape(-1)])
    return np.where(best == 0, start, base + table[best])


def check_index_fits(self: Tensor) -> None:
    """PyTorch keeps indices in integers of the input's width while channels are last."""
    largest = 2 ** (8 * self.dtype.itemsize - 1) - 1
    if suggest_memory_format(self) is contiguous_format or self.dtype not in INTEGRAL:
        return
    if math.prod(self.shape[2:]) > largest:
        raise refused(
            f"self in channels_last may have at most {largest} positions for {self.dtype}, "
            f"got {list(self.shape)}"
        )


def max_pool(out: Tensor, indices: Tensor, self: Tensor, g: Geometry) -> None:
    check_dtype(self.dtype, (*FLOATING, *INTEGRAL))
    check_index_fits(self)
    if 0 in out.shape:
        return
    values, best = best_taps(compute(self), g)
    store(out, values)
    store(indices, flat_positions(best, g, self.shape[-len(g.out) :]))


@quiet()
def max_pool2d(
    out: Tensor,
    indices: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    ws: Sequence[Window],
) -> None:
    g = geometry(out.shape, ws)
    max_pool(out, indices, self, g)


@quiet()
def max_pool3d(
    out: Tensor,
    indices: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    ws: Sequence[Window],
) -> None:
    layout = suggest_memory_format(self)
    if layout is channels_last:
        raise refused("self of 4 dimensions must not be in channels_last")
    if self.ndim == 5:  # PyTorch lays given outputs out anew
        for given in (out, indices):
            if tuple(given.stride()) != tuple(strides_for(given.shape, layout)):
                _resize_(given, list(given.shape), memory_format=layout)
    g = geometry(out.shape, ws)
    max_pool(out, indices, self, g)


@quiet()
def max_pool2d_backward(
    grad_input: Tensor,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    indices: Tensor,
) -> None:
    check_dtype(grad_output.dtype, FLOATING)
    gy, at = compute(grad_output), view(indices)
    plane = grad_input.shape[-2] * grad_input.shape[-1]
    planes = math.prod(grad_input.shape[:-2])
    total = np.zeros(planes * plane, gy.dtype)
    if total.size and gy.size:
        at = at.reshape(planes, -1)
        inside = (at >= 0) & (at < plane)  # PyTorch passes over what is not
        at = at + np.arange(planes)[:, None] * plane
        np.add.at(total, at[inside], gy.reshape(planes, -1)[inside])
    store(grad_input, total.reshape(grad_input.shape))


# ---- mean --------------------------------------------------------------------------------------


def divisor(g: Geometry, sizes: Ints, count_include_pad: bool, override: int | None) -> Array:
    """What the sum of each window is divided by: its elements, with or without padding."""
    if override is not None:
        return np.full(g.out, override, np.int64)
    count: Array = np.ones((), np.int64)
    for size, k, s, p, o in zip(sizes, g.kernel, g.stride, g.padding, g.out, strict=True):
        first = np.arange(o) * s - p
        last = np.minimum(first + k, size + p)
        if not count_include_pad:
            first, last = np.maximum(first, 0), np.minimum(last, size)
        count = count[..., None] * (last - first)
    return count


def divided(total: Array, by: Array) -> Array:
    if total.dtype.kind == "f":
        return total / by.astype(total.dtype)
    quotient = abs(total) // abs(by)  # towards 0, as in C
    return np.where((total < 0) != (by < 0), -quotient, quotient)


def avg_pool(
    allowed: Sequence[dtype],
    out: Tensor,
    self: Tensor,
    g: Geometry,
    count_include_pad: bool,
    divisor_override: int | None,
) -> None:
    check_dtype(self.dtype, allowed)
    if 0 in out.shape:
        return
    x = compute(self)
    source = padded(x, g)
    total = np.zeros_like(source[(..., *next(taps(g))[1])])
    for _, at in taps(g):
        total += source[(..., *at)]
    by = divisor(g, self.shape[-len(g.out) :], count_include_pad, divisor_override)
    store(out, divided(total, by))


@quiet()
def avg_pool2d(
    out: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    ws: Sequence[Window],
) -> None:
    g = geometry(out.shape, ws)
    allowed = (*FLOATING, int64)
    avg_pool(allowed, out, self, g, count_include_pad, divisor_override)


@quiet()
def avg_pool3d(
    out: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    ws: Sequence[Window],
) -> None:
    g = geometry(out.shape, ws)
    allowed = (float32, float64, int64)
    avg_pool(allowed, out, self, g, count_include_pad, divisor_override)


@quiet()
def avg_pool2d_backward(
    grad_input: Tensor,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    ws: Sequence[Window],
) -> None:
    check_dtype(grad_output.dtype, (*FLOATING, int64))
    g = geometry(grad_output.shape, ws)
    gy = compute(grad_output)
    part = divided(gy, divisor(g, self.shape[-2:], count_include_pad, divisor_override))
    whole: Array = np.zeros(gy.shape[:-2] + g.reach(), gy.dtype)
    for _, at in taps(g):
        whole[(..., *at)] += part
    result: Array = np.zeros(grad_input.shape, gy.dtype)
    inside, place = crop(whole, g, self.shape[-2:])
    result[(..., *place)] = inside
    store(grad_input, result)


# ---- adaptive ----------------------------------------------------------------------------------


def range_sums(x: Array, first: Array, last: Array, axis: int) -> Array:
    """Sums of x over first[i] <= index < last[i] along an axis; the ranges may overlap."""
    size = x.shape[axis]
    if len(first) == 1:
        return x.sum(axis=axis, keepdims=True, dtype=x.dtype)
    if size % len(first) == 0 and last[0] * len(first) == size:
        parts = x.reshape(*x.shape[:axis], len(first), -1, *x.shape[axis + 1 :])
        return parts.sum(axis=axis + 1, dtype=x.dtype)
    # reduceat takes pairs of bounds, which must lie inside
    widths = [(0, 1) if i == axis else (0, 0) for i in range(x.ndim)]
    bounds = np.stack([first, last], axis=1).reshape(-1)
    sums = np.add.reduceat(np.pad(x, widths), bounds, axis=axis)
    every_other: Array = np.moveaxis(np.moveaxis(sums, axis, 0)[::2], 0, axis)
    return every_other


def bins(size: int, count: int) -> tuple[Array, Array]:
    """First and last element (exclusive) of each of `count` bins that cover `size` elements."""
    i = np.arange(count)
    return i * size // count, -((i + 1) * -size // count)


@quiet()
def adaptive_avg_pool(out: Tensor, self: Tensor, output_size: Ints) -> None:
    if 0 in out.shape:
        return
    dims = len(output_size)
    check_dtype(self.dtype, FLOATING)
    total = compute(self)
    for axis in range(self.ndim - 1, self.ndim - dims - 1, -1):
        first, last = bins(self.shape[axis], out.shape[axis])
        total = range_sums(total, first, last, axis)
        total = total / column((last - first).astype(total.dtype), axis, self.ndim)
    store(out, total)


def column(values: Array, axis: int, ndim: int) -> Array:
    return values.reshape([-1 if i == axis else 1 for i in range(ndim)])


@quiet()
def adaptive_avg_pool_backward(grad_input: Tensor, grad_output: Tensor, self: Tensor) -> None:
    check_dtype(grad_output.dtype, FLOATING)
    if 0 in grad_input.shape or 0 in grad_output.shape:
        store(grad_input, 0)
        return
    total = compute(grad_output)
    for axis in range(self.ndim - 1, self.ndim - 3, -1):
        size, count = self.shape[axis], total.shape[axis]
        first, last = bins(size, count)
        total = total / column((last - first).astype(total.dtype), axis, self.ndim)
        # the bins that hold an element are neighbours
        element = np.arange(size)
        begin = np.searchsorted(last, element, side="right")
        end = np.searchsorted(first, element, side="right")
        total = range_sums_any(total, begin, end, axis)
    store(grad_input, total)


def range_sums_any(x: Array, first: Array, last: Array, axis: int) -> Array:
    """range_sums for ranges that need not cover the axis."""
    length = int((last - first).max())
    total = np.zeros([len(first) if i == axis else n for i, n in enumerate(x.shape)], x.dtype)
    for i in range(length):
        at = first + i
        seen = np.take(x, np.minimum(at, x.shape[axis] - 1), axis=axis)
        total += np.where(column(at < last, axis, x.ndim), seen, 0)
    return total
