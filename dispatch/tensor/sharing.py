"""Which values share memory, and a storage with a dtype: `_C._is_alias_of`, `TypedStorage`.

Asked by tools and tests, and by programs of an older kind; nothing on a call path comes here.
`dispatch._C` and `Tensor` offer these names and load the module when one is asked for.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from dispatch._C import dtypes
from dispatch._C.arrays import _new_strided
from dispatch._C.naming import full_name
from dispatch._C.storage import Storage, _new_storage
from dispatch._C.tensor import Tensor

__all__ = ["StorageWeakRef", "TypedStorage", "_is_alias_of", "_only_lift_cpu_tensors", "_overlaps",
           "_set_only_lift_cpu_tensors", "storage_id", "storage_of",
           "typed_storage_of"]  # fmt: skip


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


class TypedStorage:
    """A storage whose elements have a dtype (torch.TypedStorage).

    Args:
        *args: a number of elements, or a sequence of them; nothing: an empty storage.
        wrap_storage: the storage to look at, instead; needs `dtype`.
        dtype: of the elements; the default dtype when it is not given.
        device: of a new storage.

    Raises:
        RuntimeError: `wrap_storage` without dtype, or with a size as well.
        TypeError: `wrap_storage` is no storage.
    """

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = "cpu"
    ) -> None:
        if wrap_storage is not None:
            if args or dtype is None:
                raise RuntimeError("TypedStorage: wrap_storage takes a dtype and no size")
            if not isinstance(wrap_storage, Storage):
                raise TypeError(f"TypedStorage: expected a storage, got {type(wrap_storage)}")
        self.dtype = dtypes.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            wrap_storage = self._filled(args[0] if args else 0, device)
        self._untyped_storage = wrap_storage

    def _filled(self, content: Any, device: Any) -> Any:
        length = content if isinstance(content, int) else len(content)
        made = _new_storage(length * self.dtype.itemsize, str(device))
        if not isinstance(content, int):
            values = _new_strided(made, self.dtype, [length], [1], 0)
            for i, value in enumerate(content):
                values[i] = value
        return made

    def _elements(self) -> Tensor:
        return _new_strided(self._untyped_storage, self.dtype, [len(self)], [1], 0)

    @property
    def device(self) -> Any:
        """Where the bytes are."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Whether that is cuda."""
        return self.device.type == "cuda"

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def __len__(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def _at(self, index: Any) -> int:
        if not isinstance(index, int):
            raise RuntimeError(f"TypedStorage: indices are integers, got {type(index).__name__}")
        if not -len(self) <= index < len(self):
            raise IndexError(f"TypedStorage: index {index} is out of range for {len(self)}")
        return index

    def __getitem__(self, index: Any) -> Any:
        return self._elements()[self._at(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index if isinstance(index, slice) else self._at(index)] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype}, device={self.device}"
        shown = "..." if self.device.type == "meta" else "\n".join(f" {v}" for v in self)
        lines = shown or " "
        name = full_name("storage.TypedStorage")
        return f"{lines}\n[{name}({kind}) of size {len(self)}]"

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        return memo.setdefault(id(self), self.clone())

    def tolist(self) -> list[Any]:
        """The elements."""
        found: list[Any] = self._elements().tolist()
        return found

    def untyped(self) -> Any:
        """The storage below."""
        return self._untyped_storage

    def size(self) -> int:
        """Number of elements."""
        return len(self)

    def nbytes(self) -> int:
        """Number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._untyped_storage.data_ptr()

    def clone(self) -> TypedStorage:
        """The same elements in memory of their own."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Take the elements of another storage of the same length, cast."""
        self._elements().copy_(source._elements())
        return self

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._elements().fill_(value)
        return self

    def resize_(self, size: int) -> None:
        """Change the number of elements."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)


def storage_of(self: Tensor) -> TypedStorage:
    """The tensor's storage with its dtype (Tensor.storage); warns, as PyTorch does."""
    warnings.warn("TypedStorage is deprecated: use untyped_storage()", UserWarning, stacklevel=2)
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


def storage_type_of(self: Tensor) -> type[TypedStorage]:
    """The class of storages that know their dtype (torch.Tensor.storage_type)."""
    return TypedStorage


def typed_storage_of(self: Tensor) -> TypedStorage:
    """The same without a warning."""
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)
