"""Tensors out of Python data: `tensor`, `as_tensor`, `asarray`, `Tensor(...)`.

Values are collected into a numpy array and converted below the dispatcher (`arrays`); `lift_fresh`
then shows the new tensor to the active modes, as PyTorch does. The caller's data is copied unless
the function says that it may be shared.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.advice import advise, advise_once
from dispatch._C.arrays import _new_strided, _numbers_tensor, _numpy_view, from_numpy
from dispatch._C.default_device import get_default_device
from dispatch._C.dtypes import get_default_dtype, promote_types, strided
from dispatch._C.guards import _DisableTorchDispatch
from dispatch._C.size import Size
from dispatch._C.storage import Storage, _new_storage
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _len_torch_dispatch_stack
from dispatch._C.torch_function import _watch_function
from dispatch._C.wrapper import has_handler
from dispatch._ops import ops
from dispatch.tensor.later import later

__all__ = ["as_tensor", "asarray", "construct", "is_any_storage", "new_tensor", "over_storage",
           "shared_with_numpy", "tensor"]  # fmt: skip

_aten = ops.aten
_from_dlpack = later("_C.dlpack.from_dlpack")
become, tensor_of_array = later("tensor.arrays.become"), later("tensor.arrays.tensor_of_array")
_NUMBERS = frozenset((bool, int, float, complex))
_PLAIN = _NUMBERS | {list, tuple}  # neither tensors nor what lends its memory
_MANY = 10_000_000  # items from which it pays to ask first whether there is memory
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


def _symbolic_kind(data: Any) -> type | None:
    """int or float for a symbolic number, whose value is asked for when it is stored."""
    numbers = sys.modules.get("dispatch.symbolic.numbers")  # not there: nobody has made one
    if numbers is None or not isinstance(data, (numbers.SymInt, numbers.SymFloat)):
        return None
    return int if isinstance(data, numbers.SymInt) else float


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
        raise TypeError(f"tensor: invalid data type '{kind.__name__}'")
    elif _is_sequence(data):
        _infer_items(data, found, depth + 1)
    elif (number := _symbolic_kind(data)) is not None:
        found.add(_number_dtype(number))
    else:
        raise RuntimeError(f"tensor: Could not infer dtype of {kind.__name__}")


def _infer_items(data: Any, found: set[dtypes.dtype], depth: int) -> None:
    if depth > _MAX_DIMS:
        raise ValueError(f"tensor: data has more than {_MAX_DIMS} dimensions, or contains itself")
    kinds = set(map(type, data))
    if kinds <= _NUMBERS:
        found.update(map(_number_dtype, kinds))
        return
    for item in data:
        if item is data:
            raise TypeError("tensor: self-referential lists are incompatible")
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
            return shape + [int(n) for n in np.ndarray.shape.__get__(data)]  # a subclass may lie
        shape.append(len(data))
        if len(shape) > _MAX_DIMS:
            raise ValueError(f"tensor: data has more than {_MAX_DIMS} dimensions")
        if not shape[-1]:
            break
        try:
            data = data[0]
        except Exception:
            kind = type(data).__name__
            raise ValueError(f"tensor: could not determine the shape of a {kind}") from None
    if shape and isinstance(data, (str, bytes)):
        raise ValueError(f"tensor: too many dimensions '{type(data).__name__}'")
    return shape


def _flatten(data: Any, shape: Sequence[int], dim: int, out: list[Any]) -> None:
    """Leaves in order, each checked to lie at the depth and in the sizes of `shape`."""
    if dim == len(shape):
        out.append(_leaf(data))
        return
    if not _is_sequence(data):
        raise TypeError(f"tensor: expected a sequence at dim {dim}, got {type(data).__name__}")
    if dim and isinstance(data, np.ndarray):
        advise_once("a tensor of a list of arrays", "slow, make one array of them first")
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
        raise ValueError(f"tensor: a tensor of {item.numel()} elements is not one number")
    if isinstance(item, Tensor):
        if item.requires_grad:
            advise_cut()
        return _value_of(item)
    if isinstance(item, (np.generic, np.ndarray)):
        return item.item()
    if _is_sequence(item):
        raise TypeError(f"tensor: too many dimensions at {type(item).__name__}")
    return item


def advise_cut() -> None:
    """A number that loses its gradient, where it may not be meant to."""
    advise_once("a tensor that requires grad as a number", "call detach() first")


def _value_of(item: Tensor) -> Any:
    """The number that an element of data holds; no mode and no handler sees that it is read."""
    with _DisableTorchDispatch():
        try:
            return item.item()
        except NotImplementedError as error:
            raise RuntimeError(f"tensor: {error}") from None


# ---- values


def _int_array(leaves: list[Any], dtype: dtypes.dtype) -> np.ndarray:
    """Integers that `dtype` can hold; negative ones wrap around in unsigned dtypes, but uint64.

    Raises: RuntimeError for others; ValueError beyond 64 bits, OverflowError beyond uint64.
    """
    bits = 8 * dtype.itemsize
    top = 1 << (bits - 1 if dtype.is_signed else bits)
    bottom = -top if dtype.is_signed else 1 - top
    if dtype is dtypes.uint64:
        bottom = 0
    numbers = [_whole(leaf, dtype) for leaf in leaves]
    if numbers and (min(numbers) < bottom or max(numbers) >= top):
        bad = next(n for n in numbers if not bottom <= n < top)
        if dtype is dtypes.uint64:
            raise OverflowError(f"tensor: {bad} is no {dtype}")
        if not -(1 << 63) <= bad < 1 << 63:
            raise ValueError(f"tensor: {bad} overflows 64 bits")
        raise RuntimeError(f"tensor: value {bad} cannot be converted to {dtype} without overflow")
    mask = (1 << bits) - 1
    if not dtype.is_signed and numbers and min(numbers) < 0:
        numbers = [n & mask for n in numbers]
    return np.array(numbers, dtype=dtypes._numpy_dtype(dtype))


def _whole(leaf: Any, dtype: dtypes.dtype) -> int:
    if isinstance(leaf, complex) or (isinstance(leaf, float) and dtype is dtypes.uint64):
        raise TypeError(f"tensor: {leaf} is not an integer ({dtype})")
    negative = isinstance(leaf, float) and leaf < 0 and not dtype.is_signed
    if isinstance(leaf, float) and (negative or leaf - leaf != 0):
        raise RuntimeError(f"tensor: value {leaf} cannot be converted to {dtype} without overflow")
    return int(leaf)


def _array(leaves: list[Any], dtype: dtypes.dtype) -> np.ndarray:
    """The leaves in a dtype from which the conversion to `dtype` is exact or rounds once."""
    if dtype == dtypes.bool:
        for leaf in leaves:
            if not isinstance(leaf, (bool, int, float, complex)):
                raise TypeError(f"tensor: an object of type {type(leaf).__name__} is no bool")
        return np.array([bool(leaf) for leaf in leaves], dtype=np.bool_)
    if dtype.is_complex:
        return np.array(leaves, dtype=np.complex128)
    if dtype.is_floating_point:
        if any(isinstance(leaf, complex) for leaf in leaves):
            raise TypeError(f"tensor: a complex number is not a {dtype}")
        return np.array([float(leaf) for leaf in leaves], dtype=np.float64)
    return _int_array(leaves, dtype)


def _plain_tensor(data: Any, dtype: Any) -> Tensor:
    """A new CPU tensor, not yet shown to any mode."""
    if dtype is None or isinstance(dtype, dtypes.dtype):
        made = _numbers_tensor(data, dtype)
        if made is not None:
            return made
    shape = [] if isinstance(data, np.ndarray) else _shape(data)
    if dtype is None:
        dtype = _inferred_dtype(data)
    elif not isinstance(dtype, dtypes.dtype):
        dtype = dtypes.promote_types(
            dtype, dtype
        )  # float, int, bool, complex; TypeError for others
    if isinstance(data, (np.ndarray, np.generic)):
        if not data.dtype.isnative or any(step < 0 for step in data.strides):
            raise ValueError("tensor: an array of another byte order, or with negative strides")
        return tensor_of_array(np.asarray(data), dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"tensor: invalid data type '{type(data).__name__}'")
    count = math.prod(n or 1 for n in shape)
    if count > _MANY:
        _new_storage(count)  # MemoryError: lists of one list may stand for any number
    leaves: list[Any] = []
    _flatten(data, shape, 0, leaves)
    return tensor_of_array(_array(leaves, dtype).reshape(shape), dtype)


def tensor_for_index(data: Any) -> Tensor:
    """A list or array as an index: masks stay masks, everything else becomes int64."""
    if isinstance(data, dict):
        raise IndexError("index: expected ints, slices, ..., None, masks and integers, got dict")
    if isinstance(data, np.ndarray):
        made = from_numpy(np.ascontiguousarray(data).reshape(data.shape))
    else:
        try:
            inferred = _inferred_dtype(data)
        except ValueError as error:
            raise TypeError(f"index: {error}") from None
        kept = inferred in (dtypes.bool, dtypes.uint8)
        made = _plain_tensor(data, inferred if kept else dtypes.int64)
    return _aten.lift_fresh.default(made)


def _finished(made: Tensor, device: Any, requires_grad: Any) -> Tensor:
    """Show a new tensor to the modes, move it, mark it."""
    if requires_grad is not True and requires_grad is not False:
        kind = type(requires_grad).__name__
        raise TypeError(f"tensor: argument 'requires_grad' must be bool, not {kind}")
    if device is None and not requires_grad:
        return _aten.lift_fresh.default(made)
    if device is not None and device.type == "meta":
        made = _new_strided(
            _new_storage(made.nbytes, device), made.dtype, made.shape, made.stride(), 0
        )
    else:
        made = _aten.lift_fresh.default(made)
        if device is not None and device.type != "cpu":
            made = made.to(device)
    if requires_grad:
        made.requires_grad_(True)
    return made


def _device(device: Any) -> Any:
    """A device object; the thread's default one for None, where it is not the CPU."""
    if device is not None:
        return dtypes.device(device)
    default = get_default_device()
    return None if default.type == "cpu" else default


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


@_watch_function
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
    if type(data) in _PLAIN:
        return _finished(_plain_tensor(data, dtype), device, requires_grad)
    if isinstance(data, Tensor):
        _advise_copy("tensor")
        return _copied(data, dtype, device, requires_grad)
    if is_any_storage(data):
        return _finished(over_storage(data, dtype), device, requires_grad)
    if isinstance(data, np.ndarray) and _len_torch_dispatch_stack():
        return _shown_array(data, dtype, device, requires_grad)
    if _is_lent(data):
        return _copied(_from_dlpack(data), dtype, device, requires_grad)
    return _finished(_plain_tensor(data, dtype), device, requires_grad)


def _is_lent(data: Any) -> bool:
    """Whether an object lends its memory by DLPack: another library's array, or a capsule."""
    if type(data).__name__ == "PyCapsule":
        return '"dltensor' in repr(data)  # "used_dltensor" once it was taken
    return hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray)


def _advise_copy(name: str) -> None:
    advise(f"{name}: a tensor is better copied by source.detach().clone()")


def _copied(data: Tensor, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    copy = _aten._to_copy.default(
        data.detach(), dtype=dtype or data.dtype, device=device or data.device
    )
    return copy.requires_grad_(True) if requires_grad else copy


def _shown_array(data: np.ndarray, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """An array is lifted first and then copied, which modes see."""
    shared = _aten.lift_fresh.default(from_numpy(data))
    copy = _aten.to.device(shared, device or shared.device, dtype or shared.dtype, False, True)
    return copy.requires_grad_(True) if requires_grad else copy


def shared_with_numpy(array: np.ndarray) -> Tensor:
    """A tensor over the memory of `array`, shown to the active modes (torch.from_numpy).

    Raises: TypeError for what is no array, or a dtype without a counterpart; ValueError for strides
    that a tensor cannot have.
    """
    made = from_numpy(array)
    return _aten.lift_fresh.default(made) if _len_torch_dispatch_stack() else made


@_watch_function
def as_tensor(
    data: Any, *, dtype: dtypes.dtype | None = None, device: Any = None
) -> Tensor:
    """`data` as a tensor, sharing memory with tensors and arrays if it can (torch.as_tensor)."""
    device = _device(device)
    if isinstance(data, Tensor):
        return data.to(device or data.device, dtype or data.dtype)
    if isinstance(data, np.ndarray):
        shared = _aten.lift_fresh.default(from_numpy(data))
        return shared.to(device or shared.device, dtype or shared.dtype)
    if _is_lent(data):
        shared = _from_dlpack(data)
        return shared.to(device or shared.device, dtype or shared.dtype)
    return _finished(_plain_tensor(data, dtype), device, False)


@_watch_function
def asarray(
    obj: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """`obj` as a tensor; shared unless that is impossible or `copy` is true (torch.asarray).

    Without `requires_grad` gradients are as those of `obj`; False cuts them off.

    Raises: ValueError when `copy` is False and the memory cannot be shared.
    """
    device = _device(device)
    shared = _shared(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("asarray: can't alias arbitrary sequence: it has no memory to share")
        marked = False if requires_grad is None else requires_grad
        return _finished(_plain_tensor(obj, dtype), device, marked)
    wanted = (device or shared.device, dtype or shared.dtype)
    if copy is False and wanted != (shared.device, shared.dtype):
        raise ValueError(_told_apart(shared, *wanted))
    if copy:
        shared = _aten.clone.default(shared)
    result = shared.to(*wanted)
    if requires_grad is False and result.requires_grad:
        return result.detach()
    if requires_grad and not result.requires_grad:
        result = (
            result.detach().requires_grad_(True) if result is obj else result.requires_grad_(True)
        )
    return result


def _told_apart(shared: Tensor, device: dtypes.device, dtype: dtypes.dtype) -> str:
    """Why nothing is shared: the place differs, or what stands there."""
    if device != shared.device:
        return f"asarray: can't alias tensor from device '{shared.device}' to '{device}'"
    return f"asarray: can't alias tensor with dtype '{shared.dtype}' into dtype '{dtype}'"


def _is_buffer(obj: Any) -> bool:
    """Whether it shows its memory: bytes, array.array, mmap; numbers of numpy are numbers."""
    if isinstance(obj, np.generic):
        return False
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _shared(obj: Any, dtype: dtypes.dtype | None) -> Tensor | None:
    """A tensor over the memory of `obj`; None when it has none to share."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return _aten.lift_fresh.default(from_numpy(obj))
    if _is_lent(obj):
        shared: Tensor = _from_dlpack(obj)
        return shared
    if _is_buffer(obj):
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
    dtype, device = dtype or self.dtype, self.device if device is None else device
    if isinstance(data, Tensor):
        _advise_copy("new_tensor")
        return _copied(data, dtype, _device(device), requires_grad)
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


def construct(self: Tensor, *args: Any, device: Any = None, size: Any = None) -> None:
    """`Tensor.__init__`: a blank tensor becomes what `constructed` makes.

    RuntimeError for what a handler made, if it is of another class: it stays its program's object.
    """
    made = constructed(*args, device=device, size=size)
    if type(self) is not Tensor and has_handler(made) and not isinstance(made, type(self)):
        raise RuntimeError(
            f"Creating a new Tensor subclass {type(self).__name__} but the raw Tensor object is "
            f"already associated to a python object of type {type(made).__name__}"
        )
    become(self, made)


def constructed(*args: Any, device: Any = None, size: Any = None) -> Tensor:
    """`Tensor(*sizes)`, `Tensor(sequence)`, `Tensor(tensor)`: float tensors on the CPU.

    What the active modes make of them is a tensor of theirs: a FakeTensor under FakeTensorMode.
    """
    if device is not None and len(args) == 1 and isinstance(args[0], Tensor):
        raise RuntimeError("Tensor(): a tensor comes without a device, call as_tensor")
    if device is not None and _device(device).type != "cpu":
        raise RuntimeError(f"Tensor(): makes tensors on cpu, but device {device} was given")
    if size is not None:
        args = (Size(size),)
    if len(args) == 1 and not isinstance(args[0], int):
        return _constructed(args[0])
    if not all(isinstance(n, int) for n in args):
        raise TypeError(f"Tensor(): expected sizes, a sequence or a tensor, got {args!r}")
    return _empty(args or (0,), get_default_dtype())


def _empty(sizes: Sequence[int], dtype: dtypes.dtype) -> Tensor:
    """An empty tensor on the CPU, as constructors ask for it."""
    cpu = dtypes.device("cpu")
    return _aten.empty.memory_format(list(sizes), dtype=dtype, layout=strided, device=cpu)


def is_any_storage(data: Any) -> bool:
    """Whether it is a storage, of bytes or of a dtype."""
    return isinstance(data, Storage) or hasattr(data, "_untyped_storage")


def over_storage(storage: Any, dtype: dtypes.dtype | None) -> Tensor:
    """All elements of a storage: the tensor shares it. Without a dtype, bytes are int64's.

    Raises: RuntimeError for a storage of another dtype than `dtype`.
    """
    own = None if isinstance(storage, Storage) else storage.dtype
    if own is not None and dtype not in (None, own):
        raise RuntimeError(f"Expected a Storage of type {dtype} or an UntypedStorage, got {own}")
    untyped = storage if isinstance(storage, Storage) else storage._untyped_storage
    kind = dtype or own or dtypes.int64
    blank, n = _empty((0,), kind), untyped.nbytes() // kind.itemsize
    return _aten.set_.source_Storage_storage_offset(blank, untyped, 0, [n], [1])


def _constructed(data: Any) -> Tensor:
    if is_any_storage(data):
        return over_storage(data, get_default_dtype())
    if isinstance(data, Tensor):
        return _aten.alias.default(data)
    if isinstance(data, Size):
        return _empty(data, get_default_dtype())
    if isinstance(data, (str, bytes)):
        raise TypeError(f"Tensor(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data):
        raise TypeError(f"Tensor(): data must be a sequence (got {type(data).__name__})")
    return _finished(_plain_tensor(data, get_default_dtype()), dtypes.device("cpu"), False)
