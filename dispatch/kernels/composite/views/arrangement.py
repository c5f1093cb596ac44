"""Dimensions broadcast, and sizes of other tensors, written with operators."""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import preserve_format
from dispatch._C.errors import refused
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_add_batch_dim",
    "_remove_batch_dim",
    "_resize_output_",
    "broadcast_tensors",
    "broadcast_to",
    "matrix_H",
    "resize_as_",
    "slice_inverse",
]


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


def matrix_H(self: Any) -> Any:
    """A matrix transposed and conjugated."""
    n = self.dim()
    if n not in (0, 2):
        raise refused(f"only supported on matrices, got {n} dimensions; see mH")
    turned = _aten.transpose.int(self, -2, -1) if n else self
    return _aten.conj.default(turned)


def slice_inverse(
    self: Any, src: Any, dim: int = 0, start: int | None = None, end: int | None = None,
    step: int = 1,
) -> Any:  # fmt: skip
    """self seen with the geometry of `src`."""
    sizes, strides = list(src.shape), list(src.stride())
    return _aten.as_strided(self, sizes, strides, src.storage_offset())


def _add_batch_dim(self: Any, batch_dim: int, level: int) -> Any:
    raise refused("there are no tensors with a hidden dimension here")


def _remove_batch_dim(self: Any, level: int, batch_size: int, out_dim: int) -> Any:
    """No tensor has a hidden dimension here: one of `batch_size` copies."""
    whole = _aten.unsqueeze(self, out_dim)
    sizes = list(whole.shape)
    sizes[rules.wrap_dim(out_dim, len(sizes))] = batch_size
    return _aten.expand(whole, sizes)


def resize_as_(self: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    """The sizes of another tensor; in its memory format too, if asked."""
    if memory_format is preserve_format:
        memory_format = rules.suggest_memory_format(the_template)
    return _aten.resize_(self, list(the_template.shape), memory_format=memory_format)


def _resize_output_(self: Any, size: list[int], device: Any) -> Any:
    """`resize_` of an output, which must be on a device."""
    if self.device != device:
        raise refused(f"expected self to be on {device}, got {self.device}")
    return _aten.resize_(self, size)
