"""A storage whose elements have a dtype: `TypedStorage`, what `Tensor.storage()` gives.

Programs of an older kind ask for it; nothing on a call path comes here. It looks at a storage of
bytes, which its methods ask, through a tensor over them where elements are meant.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.advice import advise_once
from dispatch._C.arrays import _new_strided
from dispatch._C.naming import full_name
from dispatch._C.storage import Storage, _new_storage
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.tensor.storage import CASTS, UntypedStorage

__all__ = ["TypedStorage", "storage_of", "typed_storage_of"]

_NAMES = {
    dtype: "".join(part.capitalize() for part in name.split("_")) + "Storage"
    for name, dtype in CASTS.items()
} | {dtypes.bfloat16: "BFloat16Storage"}


def _dtype_to_storage_type_map() -> dict[dtypes.dtype, str]:
    """The name of the older class of storages for each dtype: `FloatStorage`."""
    return dict(_NAMES)


def _storage_type_to_dtype_map() -> dict[str, dtypes.dtype]:
    """The same the other way round."""
    return {name: dtype for dtype, name in _NAMES.items()}


def _refused(what: str, error: type[Exception] = RuntimeError) -> Exception:
    return error(
        f"TypedStorage: {what}; expected (size or sequence, *, dtype, device) or "
        "(*, wrap_storage, dtype)"
    )


def _typed_storage(storage: Storage, dtype: dtypes.dtype) -> TypedStorage:
    """What a pickle makes one of."""
    return TypedStorage(wrap_storage=storage, dtype=dtype)


class TypedStorage:
    """A storage whose elements have a dtype (torch.TypedStorage).

    Args:
        *args: a number of elements, or a sequence of them; nothing: an empty storage.
        wrap_storage: the storage to look at, instead; needs `dtype`.
        dtype: of the elements; the default dtype when it is not given.
        device: of a new storage, "cpu" unless given.

    `double()`, `half()` and their like give a new one of the elements, cast.

    Raises:
        RuntimeError: `wrap_storage` without dtype, or with a size or a device as well; several
            arguments; what is no dtype.
        TypeError: what is neither a size nor a sequence; `wrap_storage` is no storage.
    """

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None,
        _internal: bool = False,
    ) -> None:  # fmt: skip
        if wrap_storage is None:
            if dtype is not None and not isinstance(dtype, dtypes.dtype):
                raise RuntimeError(f"TypedStorage: expected a dtype, got {type(dtype)}")
            if len(args) > 1:
                raise _refused("Too many positional arguments")
            self.dtype = dtypes.get_default_dtype() if dtype is None else dtype
            self._untyped_storage = self._filled(args[0] if args else 0, device or "cpu")
            return
        if args:
            raise _refused("No positional arguments should be given when using 'wrap_storage'")
        if dtype is None:
            raise _refused("Argument 'dtype' must be specified")
        if not isinstance(dtype, dtypes.dtype):
            raise _refused(f"Argument 'dtype' must be a dtype, got {type(dtype)}", TypeError)
        if device is not None:
            raise _refused("Argument 'device' should not be specified beside 'wrap_storage'")
        if not isinstance(wrap_storage, Storage):
            told = f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
            raise _refused(told, TypeError)
        self.dtype, self._untyped_storage = dtype, wrap_storage

    def _filled(self, content: Any, device: Any) -> Any:
        if isinstance(content, str):
            raise TypeError(f"TypedStorage: invalid data type {type(content).__name__!r}")
        if not isinstance(content, (int, Sequence)):
            raise _refused(f"Argument type not recognized: {type(content)}", TypeError)
        length = content if isinstance(content, int) else len(content)
        made = _new_storage(length * self.dtype.itemsize, str(device))
        if not isinstance(content, int) and made.device.type != "meta":
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
            kind = "slices" if isinstance(index, slice) else type(index).__name__
            raise RuntimeError(f"TypedStorage: can't index with {kind}, indices are integers")
        if not -len(self) <= index < len(self):
            raise IndexError(f"TypedStorage: index {index} out of range for size {len(self)}")
        return index

    def __getitem__(self, index: Any) -> Any:
        self._check_there()
        return self._elements()[self._at(index)].item()

    def _check_there(self) -> None:
        if self.device.type == "meta":
            raise NotImplementedError("TypedStorage: Not available for 'meta' device type")

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

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return _typed_storage, (self._untyped_storage, self.dtype)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        return self._over(copy.deepcopy(self._untyped_storage, memo))

    def tolist(self) -> list[Any]:
        """The elements."""
        self._check_there()
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
        return self._over(self._untyped_storage.clone())

    def _over(self, untyped: Any) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype)

    def cpu(self) -> TypedStorage:
        """The same storage; NotImplementedError on meta, where no elements are."""
        return self._over(self._untyped_storage.cpu())

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """The elements on a device; the same storage where they are there."""
        return self._over(self._untyped_storage.to(device=device))

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the old class of such storages, `torch.FloatStorage`; on meta of this one.
        With such a class or its name, or a dtype: the storage with its elements cast to that."""
        if dtype is not None:
            return self._as(dtype)
        old = _NAMES.get(self.dtype)
        return full_name(old if old and self.device.type == "cpu" else "storage.TypedStorage")

    def _as(self, wanted: Any) -> TypedStorage:
        name = wanted.rpartition(".")[2] if isinstance(wanted, str) else None
        found = _storage_type_to_dtype_map().get(name) if name else wanted
        kind = getattr(found, "dtype", found)
        if not isinstance(kind, dtypes.dtype):
            raise RuntimeError(f"TypedStorage.type: {wanted!r} is no class of storages")
        return self if kind is self.dtype else typed_storage_of(self._elements().to(kind))

    def pickle_storage_type(self) -> str | None:
        """What files call it: `FloatStorage`."""
        return _NAMES.get(self.dtype)

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, **kwargs: Any) -> TypedStorage:
        """As `UntypedStorage.from_buffer`; of the default dtype unless one is given."""
        dtype = dtypes.get_default_dtype() if dtype is None else dtype
        untyped = UntypedStorage.from_buffer(*args, dtype=dtype, **kwargs)
        return TypedStorage(wrap_storage=untyped, dtype=dtype)

    @classmethod
    def from_file(
        cls, filename: str, shared: bool = False, size: int = 0, *, dtype: Any = None
    ) -> TypedStorage:
        """Over the first `size` elements of a file, as `from_file` maps them."""
        dtype = dtypes.get_default_dtype() if dtype is None else dtype
        return typed_storage_of(ops.aten.from_file(filename, shared, size, dtype=dtype))

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Take the elements of another storage of the same length, cast."""
        source.cpu()  # refused on meta
        self._elements().copy_(source._elements())
        return self

    def _write_file(self, *args: Any) -> None:
        self._untyped_storage._write_file(*args)

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._elements().fill_(value)
        return self

    def resize_(self, size: int) -> None:
        """Change the number of elements."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)


def _cast(name: str, dtype: Any) -> Callable[[TypedStorage], TypedStorage]:
    def cast(self: TypedStorage) -> TypedStorage:
        return typed_storage_of(self._elements().to(dtype, copy=True))

    cast.__name__, cast.__doc__ = name, f"The elements as {dtype.name}, in memory of their own."
    return cast


def _asked(name: str) -> Callable[[TypedStorage], Any]:
    def ask(self: TypedStorage) -> Any:
        return getattr(self._untyped_storage, name)()

    ask.__name__, ask.__doc__ = name, "What the storage below says."
    return ask


for _name, _dtype in CASTS.items():
    setattr(TypedStorage, _name, _cast(_name, _dtype))
_ASKED = (
    "_share_fd_cpu_", "_share_filename_cpu_", "get_device", "is_pinned", "is_shared",
    "resizable", "share_memory_",
)  # fmt: skip
for _name in _ASKED:
    setattr(TypedStorage, _name, _asked(_name))
_INTERNAL = (
    "data_ptr", "element_size", "is_shared", "nbytes", "pickle_storage_type", "resize_",
    "share_memory_", "size",
)  # fmt: skip
for _name in _INTERNAL:
    setattr(TypedStorage, "_" + _name, vars(TypedStorage)[_name])
TypedStorage._deepcopy = TypedStorage.__deepcopy__  # type: ignore[attr-defined]
TypedStorage._setitem = TypedStorage.__setitem__  # type: ignore[attr-defined]
for _name in ("is_hpu", "is_sparse"):
    setattr(TypedStorage, _name, False)
TypedStorage.filename = None  # type: ignore[attr-defined]


def storage_of(self: Tensor) -> TypedStorage:
    """The tensor's storage with its dtype (Tensor.storage); warns, as PyTorch does."""
    advise_once("TypedStorage", "it is deprecated: use untyped_storage()")
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


def typed_storage_of(self: Tensor) -> TypedStorage:
    """The same without a warning."""
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)
