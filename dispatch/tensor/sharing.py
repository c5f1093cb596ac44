"""Which values share memory: `_C._is_alias_of`, `StorageWeakRef`.

Asked by tools and tests, and by programs of an older kind; nothing on a call path comes here.
`dispatch._C` and `Tensor` offer these names and load the module when one is asked for.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from dispatch._C.tensor import Tensor

__all__ = [
    "StorageWeakRef", "_is_alias_of", "_only_lift_cpu_tensors", "_overlaps",
    "_set_only_lift_cpu_tensors", "storage_id",
]  # fmt: skip


def _is_alias_of(self: Any, other: Any) -> bool:
    """Whether two tensors share a storage; False for anything else."""
    both = isinstance(self, Tensor) and isinstance(other, Tensor)
    return both and self.untyped_storage() is other.untyped_storage()


def _storages(value: Any) -> Iterator[int]:
    """Identities of the storages of a tensor, or of those in lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        yield id(value.untyped_storage())
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _storages(item)
    elif isinstance(value, dict):
        yield from _storages([*value, *value.values()])


def _overlaps(self: Any, other: Any) -> bool:
    """Whether some tensor of one value shares a storage with some tensor of the other."""
    return not set(_storages(self)).isdisjoint(_storages(other))


class StorageWeakRef:
    """A storage that it does not keep alive (torch.multiprocessing.reductions.StorageWeakRef).

    Two of the same storage are equal; `cdata` is the number that both have, `expired` says whether
    the storage is gone.
    """

    __slots__ = ("_found", "cdata")

    def __init__(self, storage: Any) -> None:
        untyped = storage.untyped()
        self.cdata: int = untyped._cdata
        self._found = weakref.ref(untyped)

    def expired(self) -> bool:
        """Whether nobody has the storage any more."""
        return self._found() is None

    def __hash__(self) -> int:
        return self.cdata

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, StorageWeakRef) and self.cdata == other.cdata)


_only_lift = False


def _only_lift_cpu_tensors() -> bool:
    """What `_set_only_lift_cpu_tensors` said: tensors out of data are lifted before they move."""
    return _only_lift


def _set_only_lift_cpu_tensors(value: bool) -> None:
    """Set the answer of `_only_lift_cpu_tensors`."""
    global _only_lift
    if not isinstance(value, (bool, int)):
        raise TypeError(f"_set_only_lift_cpu_tensors: expected a bool, got {value!r}")
    _only_lift = bool(value)


def storage_id(t: Tensor) -> int:
    """A number that tensors have in common exactly when they share a storage."""
    return t.untyped_storage()._cdata
