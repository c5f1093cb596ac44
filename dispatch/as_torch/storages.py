"""`torch.FloatStorage` and its like: each makes and recognises a `TypedStorage` of a dtype."""

from typing import Any

import dispatch
from dispatch.tensor.typed_storage import TypedStorage

__all__ = [
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
    "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage",
    "LongStorage", "ShortStorage",
]  # fmt: skip


class _LegacyStorageMeta(type):
    """The class of these classes."""

    dtype: dispatch.dtype

    def __instancecheck__(cls, found: Any) -> bool:
        return isinstance(found, TypedStorage) and found.dtype is cls.dtype


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The base of these classes. RuntimeError: it has no dtype itself."""

    def __new__(cls, *args: Any, wrap_storage: Any = None, **kwargs: Any) -> Any:
        if cls is _LegacyStorage:
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        kwargs.pop("_internal", None)
        for name in kwargs:
            if name in ("dtype", "device"):
                raise RuntimeError(f"{cls.__name__}: Keyword argument {name!r} cannot be specified")
            raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}")
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype)

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, **kwargs: Any) -> TypedStorage:
        """As `UntypedStorage.from_buffer`, of the dtype of the class."""
        return TypedStorage.from_buffer(*args, dtype=cls.dtype, **kwargs)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:  # type: ignore[override]
        """As `TypedStorage.from_file`, of the dtype of the class."""
        return TypedStorage.from_file(filename, shared, size, dtype=cls.dtype)


def _storage(name: str, dtype: dispatch.dtype) -> Any:
    text = f"A storage of {dtype}: of so many elements, or of those of a sequence."
    return _LegacyStorageMeta(name, (_LegacyStorage,), {"__doc__": text, "dtype": dtype})


BFloat16Storage = _storage("BFloat16Storage", dispatch.bfloat16)
BoolStorage = _storage("BoolStorage", dispatch.bool)
ByteStorage = _storage("ByteStorage", dispatch.uint8)
CharStorage = _storage("CharStorage", dispatch.int8)
ComplexDoubleStorage = _storage("ComplexDoubleStorage", dispatch.complex128)
ComplexFloatStorage = _storage("ComplexFloatStorage", dispatch.complex64)
DoubleStorage = _storage("DoubleStorage", dispatch.float64)
FloatStorage = _storage("FloatStorage", dispatch.float32)
HalfStorage = _storage("HalfStorage", dispatch.float16)
IntStorage = _storage("IntStorage", dispatch.int32)
LongStorage = _storage("LongStorage", dispatch.int64)
ShortStorage = _storage("ShortStorage", dispatch.int16)
