"""Histograms of points in one dimension or several, on numpy.

Called for `histogram`, and for the parts of `histogramdd`. A bin holds its left edge, the last one
its right edge too; what lies outside, and NaN, is left out. Edges come from the caller, or divide
the given range (else that of the values) into equal parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C.dtypes import float32, float64
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOAT8
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_dtype, check_supported, quiet, store, view

__all__ = [
    "bin_edges",
    "from_bin_cts",
    "from_bin_tensors",
    "histc",
    "histogram_bin_ct",
    "histogram_bin_ct_out",
    "histogram_bins_tensor",
    "histogram_bins_tensor_out",
]

_aten = ops.aten
Pair = tuple[Tensor, Tensor]
Floats = Sequence[float] | None


def _check_points(self: Tensor) -> int:
    """How many coordinates a point has."""
    if self.ndim < 2:
        raise refused(f"expected self to have at least 2 dimensions, got shape {list(self.shape)}")
    return self.shape[-1]


def _check_weight(self: Tensor, weight: Tensor | None) -> None:
    if weight is None:
        return
    if weight.dtype is not self.dtype:
        raise refused(f"expected weight to be {self.dtype} as self is, got {weight.dtype}")
    sizes = list(weight.shape) or [1]
    if sizes != list(self.shape[:-1]):
        raise refused(f"expected weight to have shape {list(self.shape[:-1])}, got {sizes}")


def _check_edges(self: Tensor, edges: Sequence[Tensor]) -> None:
    if len(edges) != self.shape[-1]:
        raise refused(f"expected bins for {self.shape[-1]} coordinates, got {len(edges)}")
    for t in edges:
        if t.dtype is not self.dtype:
            raise refused(f"expected bins to be {self.dtype} as self is, got {t.dtype}")
        if t.ndim != 1 or not t.numel():
            raise refused(f"expected bins to be vectors of edges, got shape {list(t.shape)}")


def _outer_edges(points: Array, range: Floats) -> list[tuple[float, float]]:
    """The first and the last edge for each coordinate."""
    count = points.shape[1]
    if range is not None:
        if len(range) != 2 * count:
            raise refused(f"expected range to have {2 * count} numbers, got {len(range)}")
        found = list(zip(range[::2], range[1::2], strict=True))
    elif points.size:
        found = list(zip(points.min(0).tolist(), points.max(0).tolist(), strict=True))
    else:
        found = [(0.0, 1.0)] * count
    for first, last in found:
        if not (math.isfinite(first) and math.isfinite(last)):
            raise refused(f"expected a finite range, got [{first}, {last}]")
        if first > last:
            raise refused(f"expected a range whose end is not below its start, got {[first, last]}")
    return [(a - 0.5, b + 0.5) if a == b else (a, b) for a, b in found]


def _equal_edges(self: Tensor, points: Array, bins: Sequence[int], range: Floats) -> list[Tensor]:
    if len(bins) != points.shape[1]:
        raise refused(f"expected bins for {points.shape[1]} coordinates, got {len(bins)}")
    for n in bins:
        if n <= 0:
            raise refused(f"expected bins to be positive, got {n}")
    outer = _outer_edges(points, range)
    kind: dict[str, Any] = {"dtype": self.dtype, "device": self.device}
    return [_aten.linspace(a, b, n + 1, **kind) for (a, b), n in zip(outer, bins, strict=True)]


def _points(self: Tensor) -> Array:
    check_dtype(self.dtype, (float32, float64))
    return view(self).reshape(-1, self.shape[-1])


def _count(points: Array, edges: Sequence[Array], weight: Tensor | None, density: bool) -> Array:
    sizes = [len(e) - 1 for e in edges]
    inside = np.ones(len(points), bool)
    at = np.zeros(len(points), np.int64)
    with quiet():
        for column, e, size in zip(points.T, edges, sizes, strict=True):
            inside &= (column >= e[0]) & (column <= e[-1])
            place = np.searchsorted(e, column, "right") - 1
            at = at * size + np.minimum(place, size - 1)
        weights = None if weight is None else view(weight).reshape(-1)[inside]
        if not math.prod(sizes):
            return np.zeros(sizes)
        found = np.bincount(at[inside], weights, math.prod(sizes)).reshape(sizes)
        if density:
            found = found / found.sum()
            for i, e in enumerate(edges):
                widths = [-1 if j == i else 1 for j in range(len(edges))]
                found = found / np.diff(e).reshape(widths)
    return found


def _histogram(
    self: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool
) -> Array:
    return _count(_points(self), [view(e) for e in edges], weight, density)


def _new(self: Tensor, values: Array) -> Tensor:
    made = _aten.empty(list(values.shape), dtype=self.dtype, device=self.device)
    store(made, values)
    return made


# ---- several dimensions ------------------------------------------------------------------------


def bin_edges(
    self: Tensor,
    bins: Sequence[int],
    *,
    range: Floats = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    """Edges for each coordinate of self, whose last dimension is a point."""
    _check_points(self)
    return _equal_edges(self, _points(self), bins, range)


def from_bin_cts(
    self: Tensor,
    bins: Sequence[int],
    *,
    range: Floats = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    """How many points fall into each of a grid of equal cells."""
    _check_points(self)
    edges = _equal_edges(self, _points(self), bins, range)
    _check_weight(self, weight)
    return _new(self, _histogram(self, edges, weight, density))


def from_bin_tensors(
    self: Tensor,
    bins: Sequence[Tensor],
    *,
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    """The same with given edges."""
    _check_points(self)
    _check_edges(self, bins)
    _check_weight(self, weight)
    return _new(self, _histogram(self, bins, weight, density))


# ---- one dimension -----------------------------------------------------------------------------


def _flat(t: Tensor | None) -> Tensor | None:
    return None if t is None else _aten.reshape(t, [t.numel()])


def _column(self: Tensor) -> Tensor:
    return _aten.reshape(self, [self.numel(), 1])


def _write(outputs: Pair, found: Pair) -> Pair:
    for out, values in zip(outputs, found, strict=True):
        if out.dtype is not values.dtype:
            raise refused(f"expected outputs to be {values.dtype} as self is, got {out.dtype}")
    for out, values in zip(outputs, found, strict=True):
        if out.shape != values.shape:
            _aten.resize_(out, list(values.shape))
        _aten.copy_(out, values)
    return outputs


def histogram_bin_ct(
    self: Tensor,
    bins: int = 100,
    *,
    range: Floats = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Pair:
    """How many elements fall into each of `bins` equal parts, and the edges."""
    points = _column(self)
    edges = _equal_edges(points, _points(points), [bins], range)
    weights = _flat(weight)
    _check_weight(points, weights)
    return _new(self, _histogram(points, edges, weights, density)), edges[0]


def histogram_bins_tensor(
    self: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> Pair:
    """How many elements fall between the edges `bins`, and the edges."""
    points, weights = _column(self), _flat(weight)
    _check_edges(points, [bins])
    _check_weight(points, weights)
    return _new(self, _histogram(points, [bins], weights, density)), _aten.clone(bins)


def histogram_bin_ct_out(
    self: Tensor,
    bins: int = 100,
    *,
    range: Floats = None,
    weight: Tensor | None = None,
    density: bool = False,
    hist: Tensor,
    bin_edges: Tensor,
) -> Pair:
    """histogram.bin_ct into `hist` and `bin_edges`."""
    found = histogram_bin_ct(self, bins, range=range, weight=weight, density=density)
    return _write((hist, bin_edges), found)


def histogram_bins_tensor_out(
    self: Tensor,
    bins: Tensor,
    *,
    weight: Tensor | None = None,
    density: bool = False,
    hist: Tensor,
    bin_edges: Tensor,
) -> Pair:
    """histogram.bins_tensor into `hist` and `bin_edges`."""
    found = histogram_bins_tensor(self, bins, weight=weight, density=density)
    return _write((hist, bin_edges), found)


# ---- histc: counts alone, of any floats ----------------------------------------------------------


def _limits(values: Array, low: Any, high: Any) -> tuple[float, float]:
    """The range that is divided: the given one, or that of the values, and never empty."""
    first, last = float(low), float(high)
    if first == last and values.size:
        first, last = float(values.min()), float(values.max())
    if not (math.isfinite(first) and math.isfinite(last)):
        raise refused(f"expected a finite range, got [{first}, {last}]")
    return (first - 1, last + 1) if first == last else (first, last)


@quiet()
def histc(out: Tensor, self: Tensor, bins: int, min: Any, max: Any) -> None:
    """How many elements fall into each of `bins` equal parts of a range; others are left out."""
    if out.dtype is not self.dtype:
        raise refused(f"expected out to have dtype {self.dtype}, got {out.dtype}")
    check_supported(self, FLOAT8)
    if isinstance(min, complex) or isinstance(max, complex):
        raise refused(f"expected min and max to be real, got {min} and {max}")
    values = np.ravel(view(self))
    kind = values.dtype.type
    first, last = map(kind, _limits(values, min, max))
    values = values[(values >= first) & (values <= last)]
    # Rounded at each step as PyTorch does: which part an element at a border falls into shows it.
    at = ((values - first) * kind(bins) / (last - first)).astype(np.int64)
    store(out, np.bincount(np.minimum(at, bins - 1), minlength=bins))
