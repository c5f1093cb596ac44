"""`set_`: a tensor takes over another storage and a geometry over it."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.storage import Storage, _new_storage
from dispatch._C.tensor import Tensor
from dispatch._C.wrapper import set_source
from dispatch._ops import ops

__all__: list[str] = []


def set_(self: Tensor) -> Tensor:
    """An empty storage and no elements."""
    set_source(self, _new_storage(0, self.untyped_storage().device), 0, [0], [])
    return self


def set_storage(self: Tensor, source: Storage) -> Tensor:
    set_source(self, source, 0, [source.nbytes() // self.element_size()], [])
    return self


def set_storage_geometry(
    self: Tensor,
    source: Storage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int] = (),
) -> Tensor:
    set_source(self, source, storage_offset, size, stride)
    return self


def set_tensor_geometry(
    self: Tensor,
    source: Tensor,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int] = (),
) -> Tensor:
    """A geometry over the storage of another tensor."""
    if not source.is_contiguous():
        raise refused("expected source, which stands for its storage, to be contiguous")
    storage = source.untyped_storage()
    return ops.aten.set_.source_Storage_storage_offset(
        self, storage, source.storage_offset() + storage_offset, size, stride
    )
