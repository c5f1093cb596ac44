"""Dimensions broadcast, moved and flattened, written with operators."""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["broadcast_tensors", "broadcast_to", "movedim", "movedim_int", "ravel"]


_aten = ops.aten


def broadcast_to(self: Any, size: list[int]) -> Any:
    """`expand`."""
    return _aten.expand.default(self, size)


def broadcast_tensors(tensors: list[Any]) -> list[Any]:
    """All tensors expanded to the shape that they broadcast to."""
    size: list[int] = []
    for t in tensors:
        size = list(rules.broadcast_shapes(size, list(t.shape)))
    return [t if list(t.shape) == size else _aten.expand.default(t, size) for t in tensors]


def movedim(self: Any, source: list[int], destination: list[int]) -> Any:
    """Dimensions `source` at the places `destination`, the others in order in what is left."""
    n = self.dim()
    if len(source) != len(destination):
        raise refused(f"{source} and {destination} differ in length")
    sources = [rules.wrap_dim(d, n) for d in source]
    places = [rules.wrap_dim(d, n) for d in destination]
    if len(set(sources)) != len(sources) or len(set(places)) != len(places):
        raise refused(f"a dimension is repeated in {source} or {destination}")
    rest = iter([d for d in range(n) if d not in sources])
    order = [sources[places.index(d)] if d in places else next(rest) for d in range(n)]
    return _aten.permute.default(self, order)


def movedim_int(self: Any, source: int, destination: int) -> Any:
    """`movedim` of one dimension."""
    return movedim(self, [source], [destination])


def ravel(self: Any) -> Any:
    """All elements in one dimension."""
    return _aten.view.default(_aten.contiguous.default(self), [-1])
