"""What a tensor becomes: other dtypes and devices (`to`, `type`), arrays, lists, one number.

`methods` enters the table `CONVERSIONS` into the type; `operators` runs `int()`, `float()` and what
indexes other sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.arrays import _lent_array
from dispatch._C.generated.type_names import DTYPE_METHODS, TENSOR_TYPES
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.naming import full_name, package_name
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _len_torch_dispatch_stack
from dispatch._C.wrapper import has_handler
from dispatch._ops import ops
from dispatch.tensor.data import advise_cut, as_tensor, plain_values

__all__ = ["CONVERSIONS", "VALUE_TYPES", "as_index", "value_as"]

_aten = ops.aten


# ---- dtypes and devices


def _to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`to(dtype)`, `to(device, dtype)`, `to(other)`, with non_blocking, copy and memory_format.

    Returns self when nothing would change.
    """
    target, dtype, rest = _to_arguments(args, kwargs)
    if isinstance(target, Tensor):
        dtype, target = target.dtype, target.device
    if target is not None and dtype is not None:
        return _aten.to.device(self, target, dtype, **rest)
    if dtype is not None:
        return _aten.to.dtype(self, dtype, **rest)
    if target is None and not rest.get("copy") and rest.get("memory_format") is None:
        return self
    return _to_with_options(self, target, **rest)


def _to_with_options(self: Tensor, device: Any, **rest: Any) -> Tensor:
    """As PyTorch's bindings move a tensor: its own options are written out."""
    options = {"dtype": self.dtype, "layout": self.layout, "device": device or self.device}
    return _aten.to.dtype_layout(self, **options, **rest)


_TO_POSITIONAL = ("non_blocking", "copy")


def _to_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, dtypes.dtype | None, dict[str, Any]]:
    """(tensor or device or None, dtype, what is left) of a call of `to`."""
    given = list(args)
    rest = dict(kwargs)
    target: Any = None
    dtype: Any = None
    if given and isinstance(given[0], Tensor):
        target = given.pop(0)
    else:
        if given and (given[0] is None or isinstance(given[0], (str, int, dtypes.device))):
            target = given.pop(0)
        if given and (given[0] is None or _is_dtype(given[0])):
            dtype = given.pop(0)
        if target is None:
            target = rest.pop("device", None)
        if dtype is None:
            dtype = rest.pop("dtype", None)
    unknown = [name for name in rest if name not in (*_TO_POSITIONAL, "memory_format")]
    flags = [*given, *(rest[name] for name in _TO_POSITIONAL if name in rest)]
    if len(given) > 2 or unknown or any(not isinstance(flag, bool) for flag in flags):
        raise TypeError(f"to: expected a dtype, device or tensor, got {args!r} {unknown}")
    rest.update(zip(_TO_POSITIONAL, given, strict=False))
    if target is not None and not isinstance(target, (Tensor, dtypes.device)):
        target = dtypes.device(target)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        dtype = _PYTHON_DTYPES[dtype]
    return target, dtype, rest


_PYTHON_DTYPES = {
    bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128,
}  # fmt: skip


def _is_dtype(value: Any) -> bool:
    return isinstance(value, dtypes.dtype) or value is float or value in (int, bool, complex)


def _to_dtype_method(name: str, dtype: dtypes.dtype) -> Callable[..., Tensor]:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return _aten.to.dtype(self, dtype, memory_format=memory_format)

    convert.__name__ = name
    convert.__doc__ = f"This tensor as {dtype}."
    return convert


def _to_device_method(name: str) -> Callable[..., Tensor]:
    def move(
        self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
    ) -> Tensor:
        target = dtypes.device(name if device is None else device)
        return _to_with_options(
            self, target, non_blocking=non_blocking, memory_format=memory_format
        )

    move.__name__ = name
    move.__doc__ = f"This tensor on {name}."
    return move


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, `dispatch.FloatTensor`; or this tensor as another dtype."""
    if dtype is None:
        wanted = str(self.dtype).rpartition(".")[2]
        name = next(name for name, dtype_name in TENSOR_TYPES.items() if dtype_name == wanted)
        place = "" if self.device.type == "cpu" else self.device.type + "."
        return full_name(place + name)
    if isinstance(dtype, type) and dtype.__module__ == package_name():  # `FloatTensor`
        dtype = full_name(dtype.__name__)
    if isinstance(dtype, str):
        return _aten.to.device(self, *_type_of_name(dtype), non_blocking)
    return _aten.to.dtype(self, dtype, non_blocking)


def _type_of_name(text: str) -> tuple[dtypes.device, dtypes.dtype]:
    """`dispatch.cuda.FloatTensor` (`torch.` too) as a device and a dtype."""
    parts = text.split(".")
    name = parts[-1]
    known = name in TENSOR_TYPES and 2 <= len(parts) <= 3
    if not known or parts[0] not in ("dispatch", "torch"):
        raise ValueError(f"type: invalid type: '{text}'")
    place = parts[1] if len(parts) == 3 else "cpu"
    return dtypes.device(place), getattr(dtypes, TENSOR_TYPES[name])


# ---- arrays and lists


def _numpy(self: Tensor, *, force: bool = False) -> Any:
    """The tensor's memory as an array; with `force`, a copy where it cannot be shared.

    Raises: TypeError for a tensor that is not on the CPU, RuntimeError for one that requires grad
    while gradients are recorded, whose conjugate or negative bit is set, or whose class has a
    `__torch_dispatch__`.
    """
    if has_handler(self):
        name = type(self).__name__
        raise RuntimeError(f".numpy() is not supported for tensor subclasses, got {name}")
    if force:
        return _lent_array(self.detach().cpu().resolve_conj().resolve_neg())
    if self.device.type != "cpu":
        raise TypeError(f"numpy: a tensor on {self.device} has no memory here, use cpu() first")
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError("numpy: the tensor requires grad, use detach() first")
    if self.is_conj():
        raise RuntimeError("numpy: the tensor has conjugate bit set, use resolve_conj() first")
    if self.is_neg():
        raise RuntimeError("numpy: the tensor has negative bit set, use resolve_neg() first")
    self.data_ptr()  # RuntimeError where nobody may have the address
    return _lent_array(self.detach())


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """For numpy."""
    found = self.numpy()
    if dtype is not None and found.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: {self.dtype} cannot be shared as {dtype}")
        return found.astype(dtype)
    return found.copy() if copy else found


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """What numpy's functions make of tensors is a tensor again."""
    return as_tensor(array)


def _tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers."""
    if has_handler(self) and not hasattr(self, "fake_mode"):
        name = type(self).__name__
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {name}")
    if self.device.type == "meta":
        raise NotImplementedError("tolist: a tensor on meta has no values")
    if _len_torch_dispatch_stack():  # below autograd, modes see these
        self = _aten.resolve_neg.default(_aten.resolve_conj.default(self))
    if self.device.type != "cpu" and not has_handler(self):  # by the kernels that its device has
        self = self.detach().to("cpu")
    return plain_values(self).tolist()


# ---- one value


def _item(self: Tensor, kind: str) -> Any:
    """The number for `bool()`, `int()`, `float()` and `complex()`."""
    if kind == "bool":
        return _aten.is_nonzero.default(self)
    if self.numel() != 1:
        raise ValueError(f"a tensor of {self.numel()} elements has no {kind} value")
    value = _aten.item.default(self)
    if isinstance(value, complex) and kind != "complex":
        if value.imag != 0:
            raise RuntimeError(f"value {value} cannot be converted to {kind} without overflow")
        return value.real
    return value


def as_index(self: Tensor) -> int:
    if self.numel() != 1 or self.dtype.is_floating_point or self.dtype.is_complex:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    found: Any = _aten.item.default(self)
    return int(found)


def value_as(kind: str) -> Callable[[Tensor], Any]:
    told = kind in ("float", "complex")

    def convert(self: Tensor) -> Any:
        if told and self.requires_grad:
            advise_cut()
        return VALUE_TYPES[kind](_item(self, kind))

    return convert


VALUE_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


def _format(self: Tensor, spec: str) -> str:
    """A 0-d tensor is formatted as its number."""
    if self.ndim == 0 and self.device.type != "meta" and type(self) is Tensor:
        return format(self.detach().item(), spec)
    return object.__format__(self, spec)


CONVERSIONS: dict[str, Any] = {
    "__array__": _array, "__array_priority__": 1000, "__array_wrap__": _array_wrap,
    "__format__": _format, "numpy": _numpy, "to": _to, "tolist": _tolist, "type": _type,
    **{name: _to_dtype_method(name, getattr(dtypes, dt)) for name, dt in DTYPE_METHODS.items()},
    **{name: _to_device_method(name) for name in ("cpu", "cuda", "ipu", "mtia", "xpu")},
}  # fmt: skip
