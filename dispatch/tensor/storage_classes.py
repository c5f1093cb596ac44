"""`torch.FloatStorage` and its like: each makes and recognises a `TypedStorage` of a dtype.

Under `as_torch` they are names of `torch`; here `Tensor.storage_type` gives one.
"""

from typing import Any

from dispatch._C import dtypes
from dispatch._C.tensor import Tensor
from dispatch.tensor.typed_storage import TypedStorage

__all__ = [
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
    "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage",
    "LongStorage", "ShortStorage", "storage_type_of",
]  # fmt: skip


class _LegacyStorageMeta(type):
    """The class of these classes."""

    dtype: dtypes.dtype

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
    def from_file(cls, *args: Any, dtype: Any = None, **kwargs: Any) -> TypedStorage:
        """As `TypedStorage.from_file`, of the dtype of the class."""
        return TypedStorage.from_file(*args, dtype=cls.dtype, **kwargs)


def _storage(name: str, dtype: dtypes.dtype) -> Any:
    text = f"A storage of {dtype}: of so many elements, or of those of a sequence."
    return _LegacyStorageMeta(name, (_LegacyStorage,), {"__doc__": text, "dtype": dtype})


BFloat16Storage = _storage("BFloat16Storage", dtypes.bfloat16)
BoolStorage = _storage("BoolStorage", dtypes.bool)
ByteStorage = _storage("ByteStorage", dtypes.uint8)
CharStorage = _storage("CharStorage", dtypes.int8)
ComplexDoubleStorage = _storage("ComplexDoubleStorage", dtypes.complex128)
ComplexFloatStorage = _storage("ComplexFloatStorage", dtypes.complex64)
DoubleStorage = _storage("DoubleStorage", dtypes.float64)
FloatStorage = _storage("FloatStorage", dtypes.float32)
HalfStorage = _storage("HalfStorage", dtypes.float16)
IntStorage = _storage("IntStorage", dtypes.int32)
LongStorage = _storage("LongStorage", dtypes.int64)
ShortStorage = _storage("ShortStorage", dtypes.int16)
_BY_DTYPE = {kind.dtype: kind for kind in _LegacyStorage.__subclasses__()}


def storage_type_of(self: Tensor) -> type[TypedStorage] | None:
    """The class of storages of its dtype, on the CPU (torch.Tensor.storage_type)."""
    return _BY_DTYPE.get(self.dtype) if self.device.type == "cpu" else None
