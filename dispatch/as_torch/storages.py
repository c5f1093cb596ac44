"""`torch.FloatStorage` and its like: each makes and recognises a `TypedStorage` of a dtype."""

from typing import Any

import dispatch
from dispatch.tensor.sharing import TypedStorage

__all__ = [
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
    "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage",
    "LongStorage", "ShortStorage",
]  # fmt: skip


class _OfDtype(type):
    """The class of these classes."""

    dtype: dispatch.dtype

    def __instancecheck__(cls, found: Any) -> bool:
        return isinstance(found, TypedStorage) and found.dtype is cls.dtype


def _storage(name: str, dtype: dispatch.dtype) -> type:
    def new(cls: type, *args: Any, wrap_storage: Any = None) -> TypedStorage:
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=dtype)

    text = f"A storage of {dtype}: of so many elements, or of those of a sequence."
    return _OfDtype(name, (), {"__new__": new, "__doc__": text, "dtype": dtype})


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
