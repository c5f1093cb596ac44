"""Distances between points, written with operators: what autograd sees of cdist and pdist.

Called for tensors of all kinds. Euclidean distances of many points decompose into one matrix
product (`_euclidean_dist`), whose parts are differentiable; all others go to `_cdist_forward`.
"""

from __future__ import annotations

import math

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.distance.pairs import check_real, check_sets

__all__ = ["cdist", "euclidean", "pdist"]

_aten = ops.aten
# Points of a set above which Euclidean distances are taken from a matrix product.
_FEW_POINTS = 25


def _are_many(points: Tensor) -> bool:
    return points.ndim > 1 and points.size(-2) > _FEW_POINTS


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """Distances of all points of x1 from all of x2, by batch."""
    if p != 2 or compute_mode == 2 or not (compute_mode or _are_many(x1) or _are_many(x2)):
        result: Tensor = _aten._cdist_forward(x1, x2, p, compute_mode)
        return result
    check_sets(x1, x2, p, compute_mode)
    batch = rules.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    if 0 in (*batch, *x1.shape[-2:], x2.shape[-2]):
        return _aten._cdist_forward(x1, x2, p, compute_mode)
    count = math.prod(batch)
    expanded = (_aten.expand(x, [*batch, *x.shape[-2:]]) for x in (x1, x2))
    sets = [_aten.view(_aten.contiguous(x), [count, *x.shape[-2:]]) for x in expanded]
    distances = _aten._euclidean_dist(*sets)
    return _aten.view(distances, [*batch, x1.shape[-2], x2.shape[-2]])


def euclidean(x1: Tensor, x2: Tensor) -> Tensor:
    """The root of a.a - 2 a.b + b.b, as one product of points with two columns more."""
    squares = [_aten.sum.dim_IntList(_aten.pow.Tensor_Scalar(x, 2), [-1], True) for x in (x1, x2)]
    ones = [_aten.ones_like(s, memory_format=dtypes.contiguous_format) for s in squares]
    left = _aten.cat([_aten.mul.Scalar(x1, -2), squares[0], ones[0]], -1)
    right = _aten.cat([x2, ones[1], squares[1]], -1)
    result = _aten.matmul(left, _aten.transpose.int(right, -2, -1))
    return _aten.sqrt_(_aten.clamp_min_(result, 1e-30))


def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """Distances of each point from those after it."""
    if self.ndim != 2:
        raise refused(f"pdist only supports 2D tensors, got {list(self.shape)}")
    check_real("self", self)
    if not p >= 0:
        raise refused(f"only supports non-negative p values, got {p}")
    points = self if self.is_contiguous() else _aten.contiguous(self)
    return _aten._pdist_forward(points, p)
