"""Tensors out of Python data: `tensor`, `as_tensor`, `asarray`, `Tensor(...)`, copies, pickles.

Values are collected into a numpy array and converted below the dispatcher (`_data`); `lift_fresh`
then shows the new tensor to the active modes, as PyTorch does. The caller's data is copied unless
the function says that it may be shared.
"""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import get_default_dtype, promote_types
from dispatch._C.tensor import (
    Size,
    Storage,
    Tensor,
    _new_storage,
    _new_strided,
    _numpy_view,
    from_numpy,
)
from dispatch._data import become, rebuild, tensor_of_array
from dispatch._ops import ops

__all__ = ["as_tensor", "asarray", "construct", "deepcopy", "new_tensor", "reduce", "tensor"]

_aten = ops.aten
_NUMBERS = frozenset((bool, int, float, complex))
_MAX_DIMS = 64


# ---- what dtype and shape data have


def _number_dtype(kind: type) -> dtypes.dtype:
    """The dtype of a Python number: floats have the default one."""
    if kind is bool:
        return dtypes.bool
    if kind is int:
        return dtypes.int64
    default = get_default_dtype()
    return default if kind is float else promote_types(default, dtypes.complex32)


def _infer(data: Any, found: set[dtypes.dtype], depth: int = 0) -> None:
    """Collect the dtypes of all leaves of `data`."""
    kind = type(data)
    if kind in _NUMBERS:
        found.add(_number_dtype(kind))
    elif isinstance(data, Tensor):
        found.add(data.dtype)
    elif isinstance(data, (np.ndarray, np.generic)):
        found.add(dtypes._from_numpy_dtype(data.dtype))
    elif isinstance(data, (bool, int, float, complex)):
        found.add(
            _number_dtype(next(t for t in (bool, int, float, complex) if isinstance(data, t)))
        )
    elif isinstance(data, (str, bytes)):
        if depth:
            raise ValueError(f"tensor: too many dimensions '{kind.__name__}'")
        raise TypeError(f"tensor: invalid data type '{kind.__name__}'")
    elif _is_sequence(data):
        _infer_items(data, found, depth + 1)
    else:
        raise RuntimeError(f"tensor: could not infer a dtype for {kind.__name__}")


def _infer_items(data: Any, found: set[dtypes.dtype], depth: int) -> None:
    if depth > _MAX_DIMS:
        raise ValueError(f"tensor: data has more than {_MAX_DIMS} dimensions, or contains itself")
    kinds = set(map(type, data))
    if kinds <= _NUMBERS:
        found.update(map(_number_dtype, kinds))
        return
    for item in data:
        _infer(item, found, depth)


def _is_sequence(data: Any) -> bool:
    return hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, dict)


def _inferred_dtype(data: Any) -> dtypes.dtype:
    found: set[dtypes.dtype] = set()
    _infer(data, found)
    if not found:
        return get_default_dtype()
    result, *others = found
    for other in others:
        result = promote_types(result, other)
    return result


def _shape(data: Any) -> list[int]:
    """Sizes along the first items. ValueError for nesting without end."""
    shape: list[int] = []
    while _is_sequence(data) and not isinstance(data, (str, bytes, Tensor, np.generic)):
        if isinstance(data, np.ndarray):
            return shape + [int(n) for n in data.shape]
        shape.append(len(data))
        if len(shape) > _MAX_DIMS:
            raise ValueError(f"tensor: data has more than {_MAX_DIMS} dimensions")
        if not shape[-1]:
            break
        data = data[0]
    return shape


def _flatten(data: Any, shape: Sequence[int], dim: int, out: list[Any]) -> None:
    """Leaves in order, each checked to lie at the depth and in the sizes of `shape`."""
    if dim == len(shape):
        out.append(_leaf(data))
        return
    if not _is_sequence(data):
        raise TypeError(f"tensor: expected a sequence at dim {dim}, got {type(data).__name__}")
    if len(data) != shape[dim]:
        raise ValueError(
            f"tensor: expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})"
        )
    if dim + 1 == len(shape) and set(map(type, data)) <= _NUMBERS:
        out.extend(data)
        return
    for item in data:
        _flatten(item, shape, dim + 1, out)


def _leaf(item: Any) -> Any:
    if isinstance(item, Tensor) and item.numel() != 1:
        raise TypeError(f"tensor: a tensor of {item.numel()} elements is not one number")
    if isinstance(item, (Tensor, np.generic, np.ndarray)):
        return item.item()
    if _is_sequence(item):
        raise ValueError(f"tensor: too many dimensions at {type(item).__name__}")
    return item


# ---- values


def _int_array(leaves: list[Any], dtype: dtypes.dtype) -> np.ndarray:
    """Integers that `dtype` can hold, unsigned ones wrapping around; RuntimeError for others."""
    bits = 8 * dtype.itemsize
    top = 1 << (bits - 1 if dtype.is_signed else bits)
    bottom = -top if dtype.is_signed else 1 - top
    numbers = [_whole(leaf, dtype) for leaf in leaves]
    if numbers and (min(numbers) < bottom or max(numbers) >= top):
        bad = next(n for n in numbers if not bottom <= n < top)
        if not -(1 << 63) <= bad < 1 << 63 and dtype.is_signed:
            raise ValueError(f"tensor: {bad} overflows 64 bits")
        raise RuntimeError(f"tensor: value {bad} cannot be converted to {dtype} without overflow")
    mask = (1 << bits) - 1
    if not dtype.is_signed and numbers and min(numbers) < 0:
        numbers = [n & mask for n in numbers]
    return np.array(numbers, dtype=dtypes._numpy_dtype(dtype))


def _whole(leaf: Any, dtype: dtypes.dtype) -> int:
    if isinstance(leaf, complex):
        raise TypeError(f"tensor: complex number {leaf} is not an integer ({dtype})")
    if isinstance(leaf, float) and (leaf != leaf or leaf in (float("inf"), float("-inf"))):
        raise RuntimeError(f"tensor: value {leaf} cannot be converted to {dtype} without overflow")
    return int(leaf)


def _array(leaves: list[Any], dtype: dtypes.dtype) -> np.ndarray:
    """The leaves in a dtype from which the conversion to `dtype` is exact or rounds once."""
    if dtype == dtypes.bool:
        return np.array([bool(leaf) for leaf in leaves], dtype=np.bool_)
    if dtype.is_complex:
        return np.array(leaves, dtype=np.complex128)
    if dtype.is_floating_point:
        if any(isinstance(leaf, complex) for leaf in leaves):
            raise TypeError(f"tensor: a complex number is not a {dtype}")
        return np.array([float(leaf) for leaf in leaves], dtype=np.float64)
    return _int_array(leaves, dtype)


def _plain_tensor(data: Any, dtype: dtypes.dtype | None) -> Tensor:
    """A new CPU tensor, not yet shown to any mode."""
    if dtype is None:
        dtype = _inferred_dtype(data)
    if isinstance(data, (np.ndarray, np.generic)):
        return tensor_of_array(np.asarray(data), dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"tensor: invalid data type '{type(data).__name__}'")
    shape = _shape(data)
    leaves: list[Any] = []
    _flatten(data, shape, 0, leaves)
    return tensor_of_array(_array(leaves, dtype).reshape(shape), dtype)


def tensor_for_index(data: Any) -> Tensor:
    """A list or array as an index: masks stay masks, everything else becomes int64."""
    if isinstance(data, np.ndarray):
        made = from_numpy(np.ascontiguousarray(data))
    else:
        inferred = _inferred_dtype(data)
        kept = inferred in (dtypes.bool, dtypes.uint8)
        made = _plain_tensor(data, inferred if kept else dtypes.int64)
    return _aten.lift_fresh.default(made)


def _finished(made: Tensor, device: Any, requires_grad: bool) -> Tensor:
    """Show a new tensor to the modes, move it, mark it."""
    made = _aten.lift_fresh.default(made)
    if device is not None and device.type != "cpu":
        made = made.to(device)
    if requires_grad:
        made.requires_grad_(True)
    return made


def _device(device: Any) -> Any:
    return device if device is None or isinstance(device, dtypes.device) else dtypes.device(device)


def plain_values(self: Tensor) -> np.ndarray:
    """The values of a CPU tensor in a dtype that numpy knows well; no operator is called."""
    if self.dtype == dtypes.complex32:
        self = self.to(dtypes.complex64)
    values = _numpy_view(self)
    if self.is_conj():
        values = np.asarray(np.conjugate(values))
    if self.is_neg():
        values = np.asarray(np.negative(values))
    if self.dtype.is_floating_point and self.dtype.itemsize < 4:
        values = values.astype(np.float32)
    return values


# ---- the functions


def tensor(
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`: numbers, sequences, arrays, tensors (torch.tensor).

    Raises: ValueError for ragged sequences, TypeError for text, RuntimeError for what has no dtype
    and for values that `dtype` cannot hold.
    """
    device = _device(device)
    if isinstance(data, Tensor):
        copy = _aten._to_copy.default(
            data.detach(), dtype=dtype or data.dtype, device=device or data.device
        )
        return copy.requires_grad_(True) if requires_grad else copy
    return _finished(_plain_tensor(data, dtype), device, requires_grad)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing memory with tensors and arrays if it can (torch.as_tensor)."""
    device = _device(device)
    if isinstance(data, Tensor):
        return data.to(device or data.device, dtype or data.dtype)
    if isinstance(data, np.ndarray):
        shared = _aten.lift_fresh.default(from_numpy(data))
        return shared.to(device or shared.device, dtype or shared.dtype)
    return _finished(_plain_tensor(data, dtype), device, False)


def asarray(
    obj: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`obj` as a tensor; shared unless that is impossible or `copy` is true (torch.asarray).

    Raises: ValueError when `copy` is False and the memory cannot be shared.
    """
    device = _device(device)
    shared = _shared(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("asarray: a sequence or number has no memory that a tensor can share")
        return _finished(_plain_tensor(obj, dtype), device, requires_grad)
    wanted = (device or shared.device, dtype or shared.dtype)
    if copy is False and wanted != (shared.device, shared.dtype):
        raise ValueError(f"asarray: {shared.dtype} on {shared.device} cannot be shared as {wanted}")
    if copy:
        shared = _aten.clone.default(shared)
    result = shared.to(*wanted)
    if requires_grad and not result.requires_grad:
        result = (
            result.detach().requires_grad_(True) if result is obj else result.requires_grad_(True)
        )
    return result


def _shared(obj: Any, dtype: dtypes.dtype | None) -> Tensor | None:
    """A tensor over the memory of `obj`; None when it has none to share."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return _aten.lift_fresh.default(from_numpy(obj))
    if isinstance(obj, (bytes, bytearray, memoryview)):
        descr = dtypes._numpy_dtype(dtype or get_default_dtype())
        return _aten.lift_fresh.default(from_numpy(np.frombuffer(obj, dtype=descr)))
    return None


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`, of this tensor's dtype and device unless given."""
    return tensor(
        data,
        dtype=dtype or self.dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


def construct(self: Tensor, *args: Any, device: Any = None, size: Any = None) -> None:
    """`Tensor(*sizes)`, `Tensor(sequence)`, `Tensor(tensor)`: float tensors on the CPU."""
    if device is not None and _device(device).type != "cpu":
        raise RuntimeError(f"Tensor(): makes tensors on cpu, but device {device} was given")
    if size is not None:
        args = (Size(size),)
    if len(args) == 1 and not isinstance(args[0], int):
        become(self, _constructed(args[0]))
        return
    if not all(isinstance(n, int) for n in args):
        raise TypeError(f"Tensor(): expected sizes, a sequence or a tensor, got {args!r}")
    become(self, _aten.empty.memory_format(list(args) or [0], dtype=get_default_dtype()))


def _constructed(data: Any) -> Tensor:
    if isinstance(data, Tensor):
        return _aten.alias.default(data)
    if isinstance(data, Size):
        return _aten.empty.memory_format(list(data), dtype=get_default_dtype())
    if isinstance(data, (str, bytes)):
        raise TypeError(f"Tensor(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data):
        raise TypeError(f"Tensor(): data must be a sequence (got {type(data).__name__})")
    return _finished(_plain_tensor(data, get_default_dtype()), None, False)


# ---- copying and pickling


def _bytes_of(storage: Storage) -> bytes:
    n = storage.nbytes()
    return _numpy_view(_new_strided(storage, dtypes.uint8, [n], [1], 0)).tobytes() if n else b""


def _restored_storage(content: bytes | int, device: str) -> Storage:
    """A storage with these bytes; on other devices than the CPU with this size."""
    if isinstance(content, int):
        return _new_storage(content, device)
    storage = _new_storage(len(content))
    if content:
        view = _numpy_view(_new_strided(storage, dtypes.uint8, [len(content)], [1], 0))
        view[:] = np.frombuffer(content, np.uint8)
    return storage


def _reduce_storage(storage: Storage) -> tuple[Any, ...]:
    on_cpu = storage.device.type == "cpu"
    content = _bytes_of(storage) if on_cpu else storage.nbytes()
    return _restored_storage, (content, str(storage.device))


def _rebuilt(
    cls: type,
    storage: Storage,
    dtype: str,
    geometry: tuple[tuple[int, ...], tuple[int, ...], int],
    bits: tuple[bool, bool, bool],
) -> Tensor:
    plain = _new_strided(storage, getattr(dtypes, dtype), *geometry)
    return rebuild(cls, plain, *bits)


def _parts(self: Tensor) -> tuple[Any, ...]:
    geometry = (tuple(self.shape), self.stride(), self.storage_offset())
    name = str(self.dtype).rpartition(".")[2]
    return name, geometry, (self.is_conj(), self.is_neg(), self.requires_grad)


def reduce(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """For pickle: class, storage (a shared one stays shared), dtype, geometry, flags."""
    arguments = (type(self), self.untyped_storage(), *_parts(self))
    return _rebuilt, arguments, self.__dict__ or None


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """For copy.deepcopy: views of one storage become views of one new storage."""
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise RuntimeError("deepcopy: only leaf tensors can be copied: this one has a grad_fn")
    if hasattr(type(self), "__torch_dispatch__") and type(self) is not Tensor:
        made = self.clone()
    else:
        storage = self.untyped_storage()
        if id(storage) not in memo:
            make, arguments = _reduce_storage(storage)
            memo[id(storage)] = make(*arguments)
        made = _rebuilt(type(self), memo[id(storage)], *_parts(self))
    memo[id(self)] = made
    if self.__dict__:
        from copy import deepcopy as copy_attributes

        made.__dict__.update(copy_attributes(self.__dict__, memo))
    return made


copyreg.pickle(Storage, _reduce_storage)
