"""Numerical gradients along dimensions: differences of neighbours over their distance.

Called for the composite operators. Inside, a difference spans two steps; at the ends it is of
first or second order (`edge_order`). Points are a step apart (`spacing` is a number for each
dimension) or where coordinates say (`spacing` is a vector for each).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "array",
    "scalararray",
    "scalarint",
    "scalarrayarray",
    "scalarrayint",
    "tensorarray",
    "tensorarrayint",
]

_aten = ops.aten
_add, _sub, _mul, _div = _aten.add.Tensor, _aten.sub.Tensor, _aten.mul.Tensor, _aten.div.Tensor
_times, _over, _neg = _aten.mul.Scalar, _aten.div.Scalar, _aten.neg


def _check(self: Tensor, spacings: int | None, dim: Sequence[int] | None, edge_order: int) -> None:
    if self.dtype is dtypes.uint8:
        raise refused("self of dtype uint8 is not supported")
    wanted = self.ndim if dim is None else len(dim)
    if spacings is not None and spacings != wanted:
        raise refused(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            f"arguments to have the same length, got {spacings} and {wanted}"
        )
    if edge_order not in (1, 2):
        raise refused(
            f"torch.gradient only supports edge_order=1 and edge_order=2., got {edge_order}"
        )
    for at in range(self.ndim) if dim is None else rules.wrap_dims(dim, self.ndim):
        if self.shape[at] < edge_order + 1:
            raise refused(
                "torch.gradient expected each dimension size to be at least edge_order+1, "
                f"{edge_order + 1}, got shape {list(self.shape)}"
            )


def _slice(t: Tensor, dim: int, start: int | None, end: int | None = None) -> Tensor:
    return _aten.slice.Tensor(t, dim, start, end)


def _by_numbers(
    self: Tensor, spacing: Sequence[Any], dims: Sequence[int], edge_order: int
) -> list[Tensor]:
    found = []
    for dim, step in zip(dims, spacing, strict=True):
        at = rules.wrap_dim(dim, self.ndim)
        inside = _over(_rise(self, at, (0, -2), (2, None)), step)
        if edge_order == 1:
            first = _over(_rise(self, at, (0, 1), (1, 2)), step)
            last = _over(_rise(self, at, (-2, -1), (-1, None)), step)
        else:
            starts = ((2, 3, 0.5), (1, 2, 2), (0, 1, -1.5))
            c, b, a = (_times(_slice(self, at, i, end), w) for i, end, w in starts)
            first = _over(_sub(_add(a, b), c), step)
            ends = ((-1, None, 1.5), (-2, -1, 2), (-3, -2, 0.5))
            c, b, a = (_times(_slice(self, at, i, end), w) for i, end, w in ends)
            last = _over(_add(_sub(a, b), c), step)
        found.append(_aten.cat([first, _over(inside, 2), last], at))
    return found


def _rise(
    self: Tensor, at: int, lower: tuple[int, int | None], upper: tuple[int, int | None]
) -> Tensor:
    """The upper slice less the lower one, which is taken first, as handlers see it in PyTorch."""
    subtracted = _slice(self, at, *lower)
    return _sub(_slice(self, at, *upper), subtracted)


def _by_coordinates(
    self: Tensor, coordinates: Sequence[Tensor], dims: Sequence[int], edge_order: int
) -> list[Tensor]:
    for t in coordinates:
        if t.device != self.device:
            raise refused(f"expected spacing to be on {self.device} as self is, got {t.device}")
    found = []
    for dim, t in zip(dims, coordinates, strict=True):
        if t.ndim != 1:
            raise refused(f"expected each spacing to be a vector, got shape {list(t.shape)}")
        at = rules.wrap_dim(dim, self.ndim)
        steps = _aten.diff(t, 1, 0)
        found.append(_aten.cat(_pieces(self, at, steps, edge_order), at))
    return found


def _weighed(
    a: Tensor, b: Tensor, c: Tensor, left: Tensor, middle: Tensor, right: Tensor
) -> Tensor:
    return _add(_add(_mul(a, left), _mul(b, middle)), _mul(c, right))


def _pieces(self: Tensor, at: int, steps: Tensor, edge_order: int) -> list[Tensor]:
    """First, inside and last along one dimension."""
    sizes = [-1 if i == at else 1 for i in range(self.ndim)]
    one, two = _slice(steps, 0, 0, -1), _slice(steps, 0, 1)
    below = _mul(one, _add(one, two))
    a = _aten.reshape(_div(_neg(two), below), sizes)
    below = _mul(one, two)
    b = _aten.reshape(_div(_sub(two, one), below), sizes)
    c = _aten.reshape(_div(one, _mul(two, _add(one, two))), sizes)
    ends = ((c, 2, None), (b, 1, -1), (a, 0, -2))
    right, middle, left = (_mul(w, _slice(self, at, i, end)) for w, i, end in ends)
    inside = _add(_add(left, middle), right)
    if edge_order == 1:
        step = _step(steps, 0)
        first = _div(_rise(self, at, (0, 1), (1, 2)), step)
        step = _step(steps, -1)
        return [first, inside, _div(_rise(self, at, (-2, -1), (-1, None)), step)]
    one, two = _step(steps, 0), _step(steps, 1)
    both = _add(one, two)
    a = _div(_neg(_add(_times(one, 2.0), two)), _mul(one, both))
    b, c = _div(both, _mul(one, two)), _div(_neg(one), _mul(two, both))
    first = _weighed(a, b, c, *(_slice(self, at, i, i + 1) for i in range(3)))
    one, two = _step(steps, -1), _step(steps, -2)
    both = _add(one, two)
    a, b = _div(one, _mul(two, both)), _div(_neg(both), _mul(one, two))
    c = _div(_add(_times(one, 2), two), _mul(one, both))
    left, middle, right = _slice(self, at, -3, -2), _slice(self, at, -2, -1), _slice(self, at, -1)
    return [first, inside, _weighed(a, b, c, left, middle, right)]


def _step(steps: Tensor, at: int) -> Tensor:
    return _aten.select.int(steps, 0, at)


def _dims(self: Tensor, dim: int | None) -> list[int]:
    return list(range(self.ndim)) if dim is None else [dim]


def scalarint(
    self: Tensor, *, spacing: Any = None, dim: int | None = None, edge_order: int = 1
) -> list[Tensor]:
    """One step for all dimensions, or for `dim`."""
    dims = _dims(self, dim)
    count = None if spacing is None else len(dims)
    _check(self, count, None if dim is None else dims, edge_order)
    return _by_numbers(self, [1.0 if spacing is None else spacing] * len(dims), dims, edge_order)


def scalararray(
    self: Tensor, *, spacing: Any, dim: Sequence[int], edge_order: int = 1
) -> list[Tensor]:
    """One step for all of `dim`."""
    _check(self, None, dim, edge_order)
    return _by_numbers(self, [spacing] * len(dim), dim, edge_order)


def array(self: Tensor, *, dim: Sequence[int], edge_order: int = 1) -> list[Tensor]:
    """Steps of 1 along `dim`."""
    _check(self, None, dim, edge_order)
    return _by_numbers(self, [1.0] * len(dim), dim, edge_order)


def scalarrayint(
    self: Tensor, *, spacing: Sequence[Any], dim: int | None = None, edge_order: int = 1
) -> list[Tensor]:
    """A step for each dimension."""
    dims = _dims(self, dim)
    _check(self, len(spacing), None if dim is None else dims, edge_order)
    return _by_numbers(self, spacing, dims, edge_order)


def scalarrayarray(
    self: Tensor, *, spacing: Sequence[Any], dim: Sequence[int], edge_order: int = 1
) -> list[Tensor]:
    """A step for each of `dim`."""
    _check(self, len(spacing), dim, edge_order)
    return _by_numbers(self, spacing, dim, edge_order)


def tensorarrayint(
    self: Tensor, *, spacing: Sequence[Tensor], dim: int | None = None, edge_order: int = 1
) -> list[Tensor]:
    """Coordinates for each dimension."""
    dims = _dims(self, dim)
    _check(self, len(spacing), None if dim is None else dims, edge_order)
    return _by_coordinates(self, spacing, dims, edge_order)


def tensorarray(
    self: Tensor, *, spacing: Sequence[Tensor], dim: Sequence[int], edge_order: int = 1
) -> list[Tensor]:
    """Coordinates for each of `dim`."""
    _check(self, len(spacing), dim, edge_order)
    return _by_coordinates(self, spacing, dim, edge_order)
