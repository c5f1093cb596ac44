"""Sliding windows over spatial dimensions: what convolution, pooling and col2im have in common.

A `Geometry` says where the windows of one layer lie. Arrays here have the spatial dimensions last
unless a function says otherwise. The number of taps of a window is small, so bodies loop over taps
in Python and leave the loop over positions to numpy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dispatch.kernels.cpu.arrays import Array

__all__ = ["Geometry", "crop", "padded", "taps"]

Ints = Sequence[int]


class Geometry(NamedTuple):
    """Windows, one number for each spatial dimension; `out`: how many positions."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    out: tuple[int, ...]

    def reach(self) -> tuple[int, ...]:
        """Length of the padded input that the windows cover."""
        return tuple(
            (o - 1) * s + d * (k - 1) + 1
            for k, s, d, o in zip(self.kernel, self.stride, self.dilation, self.out, strict=True)
        )


def padded(x: Array, g: Geometry, fill: float = 0) -> Array:
    """`x` with what the windows need around it and no more (a view where nothing is missing).

    The result keeps the order of the dimensions in memory.
    """
    first = x.ndim - len(g.out)
    reach = g.reach()
    if not any(g.padding) and all(r <= n for r, n in zip(reach, x.shape[first:], strict=True)):
        return x
    shape = x.shape[:first] + reach
    out = np.full_like(x, fill, shape=shape)
    target, source = [slice(None)] * first, [slice(None)] * first
    for i, (p, r) in enumerate(zip(g.padding, reach, strict=True)):
        length = max(min(x.shape[first + i], r - p), 0)
        target.append(slice(p, p + length))
        source.append(slice(0, length))
    out[tuple(target)] = x[tuple(source)]
    return out


def crop(x: Array, g: Geometry, sizes: Ints) -> tuple[Array, tuple[slice, ...]]:
    """The part of a padded array that lies inside `sizes`, and where in there it lies."""
    inside, place = [], []
    for p, size, length in zip(g.padding, sizes, x.shape[-len(sizes) :], strict=True):
        n = max(min(size, length - p), 0)
        inside.append(slice(p, p + n))
        place.append(slice(0, n))
    return x[(..., *inside)], tuple(place)


def taps(g: Geometry) -> Iterator[tuple[int, tuple[slice, ...]]]:
    """Each tap's number and the slices of the padded input that it sees at all positions."""
    for number, at in enumerate(itertools.product(*map(range, g.kernel))):
        yield number, tuple(
            slice(i * d, i * d + (o - 1) * s + 1, s)
            for i, d, s, o in zip(at, g.dilation, g.stride, g.out, strict=True)
        )
