"""What storages do in Python: bytes by number, copies, `UntypedStorage(nbytes)`.

The compiled class has the memory and asks here for what it has not itself; everything goes through
a uint8 tensor over the bytes.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from types import MethodType
from typing import Any
from weakref import WeakKeyDictionary

from dispatch._C import dtypes
from dispatch._C.arrays import _new_strided
from dispatch._C.naming import full_name
from dispatch._C.storage import Storage, _new_storage
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch._ops import ops
from dispatch.tensor.copy import reduce_storage

__all__ = ["CASTS", "UntypedStorage"]


def _bytes(self: Storage, doing: str = "access the data") -> Tensor:
    self._check_not_of_wrapper(doing)
    n = self.nbytes()
    if self.device.type != "cpu":
        what = "Not available" if doing == "access the data" else "Cannot copy out"
        raise NotImplementedError(f"storage: {what} on {self.device}, whose bytes are not here")
    return _new_strided(self, dtypes.uint8, [n], [1], 0)


def _index(self: Storage, index: Any, refused: type[Exception] = TypeError) -> int:
    if isinstance(index, (bool, float)) or not hasattr(index, "__index__"):
        raise refused(f"storage: indices are integers, got {type(index).__name__}")
    index = operator.index(index)
    if not -self.nbytes() <= index < self.nbytes():
        raise IndexError(f"storage: index {index} is out of range for {self.nbytes()} bytes")
    return index


def _get(self: Storage, index: Any) -> Any:
    if isinstance(index, slice):
        if (index.step or 1) != 1:
            raise RuntimeError("storage: a slice has a step of 1")
        start, stop, _ = index.indices(self.nbytes())
        offset_of = _bytes(self)[start : max(start, stop)]
        return offset_of.clone().untyped_storage()
    return _bytes(self)[_index(self, index)].item()


def _byte(value: Any) -> int:
    """The byte that an int is: its lowest eight bits, as C++ casts it."""
    if not isinstance(value, int):
        raise RuntimeError(f"storage: a byte is an int, got {type(value).__name__}")
    return value & 0xFF


def _set(self: Storage, index: Any, value: Any) -> None:
    if isinstance(index, slice):
        if (index.step or 1) != 1:
            raise RuntimeError("storage: a slice has a step of 1")
        _bytes(self)[index] = _byte(value)
    else:
        _bytes(self)[_index(self, index, RuntimeError)] = _byte(value)


def _iterate(self: Storage) -> Iterator[int]:
    return iter(_tolist(self))


def _tolist(self: Storage) -> list[int]:
    """The bytes."""
    return _bytes(self).tolist()


def _fill(self: Storage, value: Any) -> Storage:
    """Set every byte."""
    _bytes(self, "call fill_()").fill_(_byte(value))
    return self


def _copy(self: Storage, source: Storage, non_blocking: bool = False) -> Storage:
    """Take the bytes of another storage of the same size."""
    self._check_not_of_wrapper("call copy_()")
    if source.nbytes() != self.nbytes():
        raise RuntimeError(f"copy_: size {source.nbytes()} does not match {self.nbytes()}")
    if source is not self:
        _bytes(self).copy_(_bytes(source))
    return self


def _clone(self: Storage) -> Storage:
    """A new storage with the same bytes, on meta of the same size."""
    if self.device.type == "meta":
        return _new_storage(self.nbytes(), "meta")
    return _copy(_new_storage(self.nbytes(), str(self.device)), self)


def _reduce(self: Storage, protocol: Any) -> tuple[Any, ...]:
    return reduce_storage(self)


def _deepcopy(self: Storage, memo: dict[int, Any]) -> Storage:
    if id(self) not in memo:
        memo[id(self)] = _clone(self)
    return memo[id(self)]


def _text(self: Storage) -> str:
    kind = full_name("storage.UntypedStorage")
    place = f"[{kind}(device={self.device}) of size {self.nbytes()}]"
    if self.device.type == "meta":
        return "...\n" + place
    return ("".join(f" {v}\n" for v in _tolist(self)) or " \n") + place


def _cpu(self: Storage) -> Storage:
    """The storage itself; NotImplementedError on meta, where no bytes are."""
    return _to(self, device="cpu")


def _to(self: Storage, *, device: Any, non_blocking: bool = False) -> Storage:
    """The bytes on a device; the storage itself where they are there."""
    if str(device) == str(self.device):
        return self
    if str(device) == "meta":
        return _new_storage(self.nbytes(), "meta")
    if self.device.type == "meta":
        raise NotImplementedError("storage: Cannot copy out of meta, which has no bytes")
    raise RuntimeError(f"storage: there is no memory on {device}")


def _type(self: Storage) -> str:
    """The name of the class."""
    return full_name("storage.UntypedStorage")


def _byteswap(self: Storage, dtype: dtypes.dtype) -> None:
    """Turn the bytes of each element of this dtype around; of a complex one by parts."""
    n = dtype.itemsize // (2 if dtype.is_complex else 1)
    whole = _bytes(self, "call byteswap()")
    whole.copy_(whole.view(-1, n).flip(1).reshape(-1))


def _nowhere(self: Storage) -> None:
    """None: a storage on the CPU has no index of a device."""


def _cast(dtype: dtypes.dtype) -> Any:
    def cast(self: Storage) -> Any:
        whole: Any = _new_strided(self, dtypes.uint8, [self.nbytes()], [1], 0)
        return whole.to(dtype, copy=True)._typed_storage()

    return cast


def _refused_sharing(self: Storage) -> None:
    """RuntimeError: memory is not shared between processes, on no device."""
    raise RuntimeError(
        f"storage: sharing is only available on CPU, and not here; this one is on {self.device}"
    )


def _never(self: Storage, *args: Any) -> bool:
    """False: this kind of memory is not here."""
    return False


def _nothing(self: Storage) -> None:
    """A weak reference is good as it is."""


def _element_size(self: Storage) -> int:
    """1: an untyped storage counts bytes."""
    return 1


def _write_file(
    self: Storage,
    file: Any,
    is_real_file: bool = True,
    save_size: bool = False,
    element_size: int = 1,
) -> None:
    """Write the bytes, behind their number of elements (int64) if `save_size`."""
    content = bytes(_bytes(self, "call _write_file()").tolist())
    size = self.nbytes() // element_size
    file.write((size.to_bytes(8, sys.byteorder) if save_size else b"") + content)


_METHODS: dict[str, Any] = {
    "__getitem__": _get, "__setitem__": _set, "__iter__": _iterate, "__repr__": _text,
    "__copy__": _clone, "__deepcopy__": _deepcopy, "__reduce_ex__": _reduce,
    "clone": _clone, "copy_": _copy, "element_size": _element_size, "fill_": _fill,
    "is_pinned": _never, "is_shared": _never, "tolist": _tolist, "untyped": lambda self: self,
    "_fix_weakref": _nothing, "_write_file": _write_file, "byteswap": _byteswap, "cpu": _cpu,
    "get_device": _nowhere,
    "_share_fd_cpu_": _refused_sharing, "_share_filename_cpu_": _refused_sharing,
    "share_memory_": _refused_sharing,
    "new": lambda self: _new_storage(0, str(self.device)), "to": _to, "type": _type,
}  # fmt: skip
CASTS: dict[str, dtypes.dtype] = {
    "bfloat16": dtypes.bfloat16, "bool": dtypes.bool, "byte": dtypes.uint8, "char": dtypes.int8,
    "complex_double": dtypes.complex128, "complex_float": dtypes.complex64,
    "double": dtypes.float64, "float": dtypes.float32, "half": dtypes.float16,
    "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16,
}  # fmt: skip
_METHODS |= {name: _cast(dtype) for name, dtype in CASTS.items()}
_FALSE = ("is_cuda", "is_hpu", "is_sparse", "is_sparse_csr")


def call(self: Storage, name: str, *args: Any) -> Any:
    """The slot method `name`."""
    return _METHODS[name](self, *args)


_KEPT: WeakKeyDictionary[Storage, dict[str, Any]] = WeakKeyDictionary()


def keep(self: Storage, name: str, value: Any) -> None:
    """`storage.name = value`, for as long as the storage lives. AttributeError: it is a method's.

    What refers to its own storage keeps that alive.
    """
    if hasattr(Storage, name) or name in _METHODS:
        raise AttributeError(f"'UntypedStorage' object attribute {name!r} is read-only")
    _KEPT.setdefault(self, {})[name] = value


def drop(self: Storage, name: str) -> None:
    """`del storage.name`."""
    if name not in _KEPT.get(self, ()):
        raise AttributeError(f"'UntypedStorage' object has no attribute {name!r}")
    del _KEPT[self][name]


def attribute(self: Storage, name: str) -> Any:
    """What the compiled class has not. AttributeError for what this one has not either."""
    if name == "__dict__":
        return _KEPT.setdefault(self, {})
    if name in _KEPT.get(self, ()):
        return _KEPT[self][name]
    if name in _FALSE:
        return False
    if name == "filename":
        return None
    if name.startswith("__") or name not in _METHODS:
        raise AttributeError(f"'UntypedStorage' object has no attribute {name!r}")
    return MethodType(_METHODS[name], self)


class _Maker(type):
    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, Storage)

    def __getattr__(cls, name: str) -> Any:
        return _METHODS[name] if name in _METHODS else getattr(Storage, name)

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *_METHODS, *dir(Storage)})


class UntypedStorage(metaclass=_Maker):
    """`UntypedStorage(nbytes, device="cpu")`, or of the bytes in a list: a new storage."""

    def __new__(cls, *args: Any, size: Any = 0, device: Any = "cpu") -> Any:
        if len(args) > 1:
            raise RuntimeError(f"UntypedStorage: expected one argument, got {len(args)}")
        content = args[0] if args else size
        if isinstance(content, bool):
            raise RuntimeError("UntypedStorage: expected a size or a sequence, got a bool")
        if isinstance(content, int):
            return _new_storage(content, str(device))
        if not isinstance(content, Sequence):
            raise RuntimeError(f"UntypedStorage: expected a sequence, got {type(content).__name__}")
        made = _new_storage(len(content), str(device))
        for i, value in enumerate(content):
            if not isinstance(value, int):
                kind = type(value).__name__
                raise RuntimeError(f"UntypedStorage: expected a sequence of ints, got a {kind}")
            if made.device.type != "meta":
                _set(made, i, value)
        return made

    @staticmethod
    def from_file(filename: str, shared: bool = False, nbytes: int = 0) -> Any:
        """A storage over the first bytes of a file, as `from_file` maps them."""
        mapped = ops.aten.from_file(filename, shared, nbytes, dtype=dtypes.uint8)
        return mapped.untyped_storage()

    @staticmethod
    def from_buffer(
        buffer: Any,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: Any = None,
    ) -> Any:
        """A storage with a copy of `count` elements of a buffer, from byte `offset` on.

        Raises:
            TypeError: no buffer.
            RuntimeError: no dtype, or no byte order for another one than int8 and uint8.
            ValueError: another byte order, or elements that are not there.
        """
        data = memoryview(buffer).cast("B")
        free = byte_order is not None or dtype in (dtypes.uint8, dtypes.int8)
        if not isinstance(dtype, dtypes.dtype) or not free:
            raise RuntimeError("from_buffer: a dtype is needed, and a byte order unless it is int8")
        if byte_order not in (None, "native", "little", "big"):
            raise ValueError(f"from_buffer: {byte_order!r} is no byte order")
        rest = len(data) - offset
        if not 0 <= offset <= len(data) or (count < 0 and rest % dtype.itemsize):
            raise ValueError(f"from_buffer: {rest} bytes from {offset} on are no elements")
        nbytes = rest if count < 0 else count * dtype.itemsize
        if nbytes > rest:
            raise ValueError(f"from_buffer: {nbytes} bytes asked for, {rest} there")
        if _get_dispatch_mode(_TorchDispatchModeKey.FAKE) is not None:
            return _new_storage(nbytes, "meta")  # no fake tensor has bytes
        part = bytes(data[offset : offset + nbytes])
        if byte_order not in (None, "native", sys.byteorder):
            n = dtype.itemsize
            part = b"".join(part[i : i + n][::-1] for i in range(0, nbytes, n))
        return UntypedStorage([bool(b) for b in part] if dtype is dtypes.bool else part)
