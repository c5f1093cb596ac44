"""Copies and pickles of tensors, subclasses and wrappers among them.

A tensor is its storage and metadata; a wrapper, which has no memory, is its metadata and its
attributes. What is restored is made plain first and then becomes an instance of its class, so that
no `__init__` and no handler runs (torch.Tensor.__reduce_ex__, __deepcopy__).
"""

from __future__ import annotations

import copyreg
from copy import deepcopy as deep
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.arrays import _new_strided, _numpy_view
from dispatch._C.grad_mode import no_grad
from dispatch._C.storage import Storage, _new_storage
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _get_dispatch_mode, _len_torch_dispatch_stack, _TorchDispatchModeKey
from dispatch._C.wrapper import has_handler
from dispatch._ops import ops
from dispatch.tensor.arrays import rebuild

__all__ = ["deepcopy", "reduce"]

_aten = ops.aten
_SET_STATE = "__setstate__"


# ---- storages


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


def reduce_storage(storage: Storage) -> tuple[Any, ...]:
    on_cpu = storage.device.type == "cpu"
    content = _bytes_of(storage) if on_cpu else storage.nbytes()
    return _restored_storage, (content, str(storage.device))


class _OwnStorage:
    """A storage in the pickle of one tensor: every tensor takes its bytes along, also those of
    which another tensor in the pickle is a view (torch.Tensor._reduce_ex_internal)."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_storage(self.storage)


def _same_storage(storage: Storage) -> Storage:
    """A storage that several tensors of one file have."""
    return storage


# ---- pickles


def _state_of(self: Tensor, gradient: bool = False) -> Any:
    """What the instance has besides being a tensor: attributes, and slots if its class has any."""
    slots = copyreg._slotnames(type(self))  # type: ignore[attr-defined]
    attributes = {k: v for k, v in self.__dict__.items() if gradient or k != "grad"} or None
    if not slots:
        return attributes
    return attributes, {name: getattr(self, name) for name in slots if hasattr(self, name)}


def _give_state(self: Tensor, state: Any) -> None:
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for given in (attributes, slots):
        for name, value in (given or {}).items():
            setattr(self, name, value)


def _restored(make: Any, cls: type, arguments: tuple[Any, ...], state: Any) -> Tensor:
    """`make(*arguments)` as an instance of `cls` with its state."""
    made: Tensor = make(*arguments)
    if type(made) is not cls:
        made = made.as_subclass(cls)
    restore: Any = getattr(type(made), _SET_STATE)
    if restore is not getattr(Tensor, _SET_STATE):
        restore(made, state)
    else:
        _give_state(made, state)
    return made


def _dtype_name(self: Tensor) -> str:
    return str(self.dtype).rpartition(".")[2]


def _rebuilt(
    storage: Storage | _OwnStorage,
    dtype: str,
    geometry: tuple[tuple[int, ...], tuple[int, ...], int],
    bits: tuple[bool, bool, bool],
) -> Tensor:
    if isinstance(storage, _OwnStorage):  # a shallow copy
        storage = storage.storage
    if _len_torch_dispatch_stack():
        shown = _shown_strided(storage, getattr(dtypes, dtype), *geometry)
        return rebuild(Tensor, shown, *bits) if type(shown) is Tensor else _with_bits(shown, *bits)
    return rebuild(Tensor, _new_strided(storage, getattr(dtypes, dtype), *geometry), *bits)


def _with_bits(shown: Tensor, conj: bool, neg: bool, requires_grad: bool) -> Tensor:
    """A mode's tensor stays of its class, and gets the bits by operators."""
    made = _aten._conj.default(shown) if conj else shown
    made = _aten._neg_view.default(made) if neg else made
    return made.requires_grad_(True) if requires_grad else made


def _shown_strided(
    storage: Storage,
    dtype: dtypes.dtype,
    size: Any,
    stride: Any,
    offset: int,
    *,
    device: Any = None,
) -> Tensor:
    """A tensor over `storage` made by operators, for modes to see (torch._utils); a fake one is on
    `device`, or on meta."""
    options = {"dtype": dtype, "device": storage.device, "pin_memory": False}
    if _get_dispatch_mode(_TorchDispatchModeKey.FAKE) is not None:  # PyTorch loads onto meta then
        storage = _new_storage(storage.nbytes(), "meta")
        options["device"] = device or storage.device
    elif storage.device.type == "meta":
        return _aten.empty_strided.default(size, stride, **options)
    empty = _aten.empty.memory_format([0], **options)
    return _aten.set_.source_Storage_storage_offset(empty, storage, offset, size, stride)


def _rebuilt_wrapper(
    cls: type, dtype: str, requires_grad: bool, device: str, **metadata: Any
) -> Tensor:
    made: Tensor = Tensor._make_wrapper_subclass(
        cls,
        dtype=getattr(dtypes, dtype),
        device=device,
        requires_grad=requires_grad,
        **metadata,
    )
    return made


def _rebuilt_from(make: Any, metadata: dict[str, Any]) -> Tensor:
    return make(**metadata)


def _parts(self: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """What makes the tensor again, without its class (a wrapper with it) and its state."""
    dtype = _dtype_name(self)
    if has_handler(self) and self.data_ptr() == 0:
        metadata = {
            "cls": type(self), "dtype": dtype, "requires_grad": self.requires_grad,
            "device": str(self.device), "size": tuple(self.size()), "strides": self.stride(),
            "storage_offset": self.storage_offset(), "layout": self.layout,
        }  # fmt: skip
        return _rebuilt_from, (_rebuilt_wrapper, metadata)
    geometry = (tuple(self.shape), self.stride(), self.storage_offset())
    bits = (self.is_conj(), self.is_neg(), self.requires_grad)
    return _rebuilt, (_OwnStorage(self.untyped_storage()), dtype, geometry, bits)


def reduce(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """For pickle: the whole storage, dtype, geometry, flags; class and state."""
    state = _state_of(self)
    make, arguments = _parts(self)
    if type(self) is Tensor and not state:
        return make, arguments
    return _restored, (make, type(self), arguments, state)


# ---- deep copies


def _copy_of_memory(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """The same geometry over a copy of the storage: views of one storage stay views of one."""
    storage = self.untyped_storage()
    if id(storage) not in memo:
        memo[id(storage)] = _copied_storage(storage)
    if type(self) is Tensor and not _len_torch_dispatch_stack():
        plain = _new_strided(
            memo[id(storage)], self.dtype, self.shape, self.stride(), self.storage_offset()
        )
        made = rebuild(Tensor, plain, False, False, False)
    else:
        made = self.new_empty([])
        _check_class(self, made, "new_empty")
        _aten.set_.source_Storage_storage_offset(
            made, memo[id(storage)], self.storage_offset(), self.size(), self.stride()
        )
    if self.is_conj():
        made = _aten.conj_physical.default(made)
    return _aten.neg.default(made) if self.is_neg() else made


def _copied_storage(storage: Storage) -> Storage:
    """A storage with the same bytes; modes see the copy (torch.UntypedStorage.clone)."""
    if not _len_torch_dispatch_stack():
        make, arguments = reduce_storage(storage)
        return make(*arguments)
    copy = _new_storage(storage.nbytes(), storage.device)
    target, source = (
        _aten.set_.source_Storage(
            _aten.empty.memory_format([0], dtype=dtypes.uint8, device=s.device), s
        )
        for s in (copy, storage)
    )
    _aten.copy_.default(target, source)
    return copy


def _check_class(self: Tensor, made: Any, how: str) -> None:
    if type(made) is not type(self):
        doing = "cloning" if how == "clone" else "that function"
        raise RuntimeError(
            f"deepcopy: the default calls {how} of {type(self).__name__}, and is for classes for "
            f"which {doing} returns another instance of the same subclass, got "
            f"{type(made).__name__}; define it so, or a __deepcopy__"
        )


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """For copy.deepcopy: views of one storage become views of one new storage.

    Instances of a subclass come from its `new_empty`, those without memory from its `clone`.
    RuntimeError: a tensor that is no leaf, or one of these gives another class.
    """
    if not self.is_leaf:
        raise RuntimeError("deepcopy: only leaf tensors can be copied: this one has a grad_fn")
    if id(self) in memo:
        found: Tensor = memo[id(self)]
        return found
    with no_grad():
        if self.device.type == "meta" or (type(self) is not Tensor and self.data_ptr() == 0):
            made = self.clone()
            _check_class(self, made, "clone")
        else:
            made = _copy_of_memory(self, memo)
        if self.requires_grad:
            made.requires_grad_()
        _give_state(made, deep(_state_of(self, gradient=True), memo))
    memo[id(self)] = made
    return made
