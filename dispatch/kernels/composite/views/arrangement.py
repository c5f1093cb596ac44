"""Dimensions broadcast, moved and flattened, written with operators."""

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
    "movedim",
    "movedim_int",
    "numpy_T",
    "ravel",
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


def movedim(self: Any, source: list[int], destination: list[int]) -> Any:
    """Dimensions `source` at the places `destination`, the others in order in what is left."""
    n = self.dim()
    if len(source) != len(destination):
        raise refused(
            "movedim: Invalid source or destination dims: expected as many of one as of the "
            f"other, got {source} and {destination}"
        )
    sources = [rules.wrap_dim(d, n) for d in source]
    places = [rules.wrap_dim(d, n) for d in destination]
    for name, given, dims in (("source", source, sources), ("destination", destination, places)):
        if len(set(dims)) != len(dims):
            raise refused(f"movedim: repeated dim in `{name}`: {given}")
    rest = iter([d for d in range(n) if d not in sources])
    order = [sources[places.index(d)] if d in places else next(rest) for d in range(n)]
    return _aten.permute.default(self, order)


def movedim_int(self: Any, source: int, destination: int) -> Any:
    """`movedim` of one dimension."""
    return movedim(self, [source], [destination])


def ravel(self: Any) -> Any:
    """All elements in one dimension."""
    return _aten.view.default(_aten.contiguous.default(self), [-1])


def numpy_T(self: Any) -> Any:
    """All dimensions in reverse."""
    return _aten.permute.default(self, list(range(self.dim() - 1, -1, -1)))


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
