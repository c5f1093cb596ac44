"""Bodies of interpolation (nearest, bilinear, bicubic) and of sampling on a grid.

Called by the structured kernels with outputs of the right size. Interpolation is separable: for
each spatial dimension a `Taps` table gives the input elements and weights of each output element,
and the table is applied along that dimension. uint8 has weights in fixed point and is rounded after
each dimension, width first, as in PyTorch's kernels of Pillow's making.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dispatch._C.dtypes import uint8
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, is_narrow, quiet, store, view

__all__ = ["bicubic2d", "bilinear2d", "grid_sampler_2d", "nearest2d"]

Ints = Sequence[int]


CUBIC = -0.75  # the free coefficient of the cubic convolution
MOST_BITS = 22  # of a weight in fixed point; less where one would not fit int16


class Taps(NamedTuple):
    """Input elements and weights, both (output size, taps), along one dimension."""

    index: Array
    weight: Array


# ---- sources -----------------------------------------------------------------------------------


def step_between(
    size: int, out: int, align_corners: bool, scale: float | None, kind: type
) -> float:
    """Distance of neighbouring output elements in the input (area_pixel_compute_scale)."""
    if align_corners:
        return kind(size - 1) / kind(out - 1) if out > 1 else kind(0)
    if scale is not None and scale > 0:
        return kind(1.0 / scale)
    return kind(size) / kind(out)


def cubic_weights(t: Array) -> list[Array]:
    """Weights of the four neighbours, t: distance from the second."""
    kind = t.dtype.type
    a, one, two = kind(CUBIC), kind(1), kind(2)

    def near(x: Array) -> Array:
        return (kind(CUBIC + 2) * x - kind(CUBIC + 3)) * x * x + one

    def far(x: Array) -> Array:
        return ((a * x - kind(5 * CUBIC)) * x + kind(8 * CUBIC)) * x - kind(4 * CUBIC)

    return [far(t + one), near(t), near(one - t), far(two - t)]


def linear_weights(t: Array) -> list[Array]:
    return [1 - t, t]


def taps_between(
    size: int, out: int, align_corners: bool, scale: float | None, cubic: bool, kind: type
) -> Taps:
    step = step_between(size, out, align_corners, scale, kind)
    position: Array = np.arange(out, dtype=kind)
    if align_corners:
        position = step * position
    else:
        # in float32 PyTorch multiplies and subtracts with one rounding (fma)
        position = (np.float64(step) * (position + kind(0.5)) - 0.5).astype(kind)
        if not cubic:
            position = np.maximum(position, 0)
    first = np.minimum(np.floor(position).astype(np.int64), size - 1)
    t: Array = np.clip(position - first, 0, 1).astype(kind)
    weights = cubic_weights(t) if cubic else linear_weights(t)
    begin = -1 if cubic else 0
    index = first[:, None] + np.arange(begin, begin + len(weights))
    return Taps(np.clip(index, 0, size - 1), np.stack(weights, axis=-1))


def unchanged(size: int, kind: type) -> Taps:
    """Every element is its own first and second neighbour: infinities become NaN."""
    index = np.arange(size)
    return Taps(np.stack([index, index], axis=-1), np.tile(np.array([1, 0], kind), (size, 1)))


# ---- application -------------------------------------------------------------------------------


def along(x: Array, axis: int, taps: Taps) -> Array:
    """Weighted sum over taps along an axis."""
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    total = None
    for index, weight in zip(taps.index.T, taps.weight.T, strict=True):
        part = np.take(x, index, axis=axis)
        part *= weight.reshape(shape)
        total = part if total is None else np.add(total, part, out=total)
    return x if total is None else total


def merged(taps: Taps) -> Taps:
    """Weights of one and the same element added up at its first tap."""
    weight = taps.weight.copy()
    for i in range(1, weight.shape[1]):
        for j in range(i):
            same = taps.index[:, i] == taps.index[:, j]
            weight[same, j] += weight[same, i]
            weight[same, i] = 0
    return Taps(taps.index, weight)


def along_bytes(x: Array, axis: int, taps: Taps) -> Array:
    """`along` for uint8, in fixed point."""
    taps = merged(taps)
    bits, largest = 0, taps.weight.max()
    while bits < MOST_BITS and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    half = np.copysign(0.5, taps.weight)
    fixed = np.trunc(taps.weight * (1 << bits) + half).astype(np.int32)
    total = along(x.astype(np.int32), axis, Taps(taps.index, fixed)) + (1 << bits >> 1)
    return np.clip(total >> bits, 0, 255).astype(np.uint8)


def interpolate(
    out: Tensor,
    self: Tensor,
    output_size: Ints,
    align_corners: bool,
    scales: Sequence[float | None],
    cubic: bool,
) -> None:
    check_dtype(self.dtype, (*FLOATING, uint8))
    x = compute(self)
    kind = np.float32 if x.dtype == np.float32 else np.float64
    apply = along_bytes if x.dtype == np.uint8 else along
    for axis in (3, 2):
        size, wanted, scale = x.shape[axis], output_size[axis - 2], scales[axis - 2]
        if size == wanted and x.dtype == np.uint8:
            continue
        if size == wanted and not cubic:
            taps = unchanged(size, kind)
        else:
            taps = taps_between(size, wanted, align_corners, scale, cubic, kind)
        if cubic and is_narrow(self.dtype):  # here PyTorch keeps weights in the dtype
            rounded = taps.weight.astype(view(self).dtype).astype(kind)
            taps = taps._replace(weight=rounded)
        x = apply(x, axis, taps)
    store(out, x)


@quiet()
def bilinear2d(
    out: Tensor,
    self: Tensor,
    output_size: Ints,
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
) -> None:
    scales = (scales_h, scales_w)
    interpolate(out, self, output_size, align_corners, scales, False)


@quiet()
def bicubic2d(
    out: Tensor,
    self: Tensor,
    output_size: Ints,
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
) -> None:
    scales = (scales_h, scales_w)
    interpolate(out, self, output_size, align_corners, scales, True)


def nearest_index(size: int, out: int, scale: float | None) -> Array:
    position = np.arange(out)
    if out == size:
        return position
    if out == 2 * size:
        return position >> 1
    step = step_between(size, out, False, scale, np.float32)
    at = np.floor(position.astype(np.float32) * step).astype(np.int64)
    return np.clip(at, 0, size - 1)


@quiet()
def nearest2d(
    out: Tensor,
    self: Tensor,
    output_size: Ints,
    scales_h: float | None,
    scales_w: float | None,
) -> None:
    check_dtype(self.dtype, (*FLOATING, uint8))
    x = view(self)
    for axis, scale in ((3, scales_w), (2, scales_h)):
        x = np.take(x, nearest_index(x.shape[axis], output_size[axis - 2], scale), axis=axis)
    store(out, x)


# ---- grids -------------------------------------------------------------------------------------

Bounds = Callable[[Array, int], Array]


def unnormalized(coordinate: Array, size: int, align_corners: bool) -> Array:
    """-1..1 as positions: of the outer elements' centres, or of their outer edges."""
    kind = coordinate.dtype.type
    if align_corners:
        return (coordinate + kind(1)) * kind((size - 1) / 2)
    return (coordinate + kind(1)) * kind(size / 2) - kind(0.5)


def clipped(x: Array, size: int) -> Array:
    """Into the input; NaN becomes 0."""
    kind = x.dtype.type
    return np.fmin(np.fmax(x, kind(0)), kind(size - 1))


def reflected(x: Array, size: int, align_corners: bool) -> Array:
    """Thrown back at the borders: outer elements' centres, or their outer edges."""
    kind = x.dtype.type
    low, period = (kind(0), kind(2 * (size - 1))) if align_corners else (kind(-0.5), kind(2 * size))
    if period == 0:
        return np.zeros_like(x)
    distance = np.abs(x - low)
    extra = distance - np.trunc(distance / period) * period
    return clipped(np.minimum(extra, period - extra) + low, size)


def bounded(x: Array, size: int, padding_mode: int, align_corners: bool) -> Array:
    if padding_mode == 1:
        return clipped(x, size)
    return reflected(x, size, align_corners) if padding_mode == 2 else x


def pick(x: Array, row: Array, column: Array) -> Array:
    """x (n, c, h, w) at whole positions (n, oh, ow); 0 outside and at NaN."""
    n, c, h, w = x.shape
    inside = (row >= 0) & (row < h) & (column >= 0) & (column < w)
    line, place = (np.where(inside, at, 0).astype(np.int64) for at in (row, column))
    flat = (line * w + place).reshape(n, 1, -1)
    values = np.take_along_axis(x.reshape(n, c, h * w), flat, axis=2)
    values[np.broadcast_to(~inside.reshape(n, 1, -1), values.shape)] = 0
    return values.reshape(n, c, *row.shape[1:])


def sample_bilinear(x: Array, row: Array, column: Array) -> Array:
    one = x.dtype.type(1)
    top, left = np.floor(row), np.floor(column)
    down, right = row - top, column - left
    up, back = one - down, one - right
    total = pick(x, top, left) * (up * back)[:, None]
    total += pick(x, top, left + one) * (up * right)[:, None]
    total += pick(x, top + one, left) * (down * back)[:, None]
    total += pick(x, top + one, left + one) * (down * right)[:, None]
    return total


def sample_bicubic(
    x: Array, row: Array, column: Array, padding_mode: int, align_corners: bool
) -> Array:
    h, w = x.shape[2:]
    steps = [x.dtype.type(i) for i in (-1, 0, 1, 2)]
    top, left = np.floor(row), np.floor(column)
    down, right = cubic_weights(row - top), cubic_weights(column - left)
    total = np.zeros((*x.shape[:2], *row.shape[1:]), x.dtype)
    for i, step in enumerate(steps):
        line = np.zeros_like(total)
        y = bounded(top + step, h, padding_mode, align_corners)
        for j, side in enumerate(steps):
            at = bounded(left + side, w, padding_mode, align_corners)
            line += pick(x, y, at) * right[j][:, None]
        total += line * down[i][:, None]
    return total


@quiet()
def grid_sampler_2d(
    out: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> None:
    if 0 in out.shape:
        return
    check_dtype(input.dtype, FLOATING)
    # 16-bit floats stay what they are: PyTorch rounds after each step here, positions included.
    x, points = np.ascontiguousarray(view(input)), view(grid)
    h, w = x.shape[2:]
    row = unnormalized(points[..., 1], h, align_corners)
    column = unnormalized(points[..., 0], w, align_corners)
    if interpolation_mode == 2:
        store(out, sample_bicubic(x, row, column, padding_mode, align_corners))
        return
    row = bounded(row, h, padding_mode, align_corners)
    column = bounded(column, w, padding_mode, align_corners)
    if interpolation_mode == 1:
        store(out, pick(x, np.rint(row), np.rint(column)))
    else:
        store(out, sample_bilinear(x, row, column))
