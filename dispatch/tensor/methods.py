"""What Tensor does in Python: operators, conversions, indexing, copying, printing.

Importing this module registers the hooks that the compiled Tensor calls and enters methods into
its type. Methods of operators are not listed anywhere: the first access looks the operator up and
enters it into the type, so that the next one is a plain attribute.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from dispatch._C import dtypes
from dispatch._C.function import _enter_methods, _find_function
from dispatch._C.generated.type_names import DTYPE_METHODS, TENSOR_TYPES
from dispatch._C.guards import DisableTorchFunctionSubclass
from dispatch._C.tensor import (
    Tensor,
    _install_tensor_attribute,
    _numpy_view,
    _set_tensor_hook,
)
from dispatch._C.tls import _len_torch_dispatch_stack
from dispatch._C.torch_function import (
    _ask_torch_function,
    _has_torch_function_unary,
    _quiet,
    _watch_slot,
    _watch_tensor,
)
from dispatch._C.wrapper import has_handler
from dispatch._ops import ops
from dispatch.tensor.attributes import FACTS

__all__: list[str] = []

_aten = ops.aten


def _room(function: str) -> Callable[..., Any]:
    """`module.name` of this package, imported at the first call: import has no time for it."""
    module, _, name = function.rpartition(".")
    found: Callable[..., Any] | None = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal found
        if found is None:
            found = getattr(importlib.import_module(f"dispatch.{module}"), name)
        return found(*args, **kwargs)

    call.__name__ = name
    return call


# ---- operators


def _function(name: str) -> Callable[..., Any]:
    """The operator as a method, else as a function, else its packet."""
    found = _find_function(name, True) or _find_function(name, False)
    return getattr(_aten, name) if found is None else found


def _binary(name: str) -> Callable[[Tensor, Any], Any]:
    """`self OP other`; NotImplemented for an operand that the operator does not take."""
    function: Callable[..., Any] | None = None

    def operate(self: Tensor, other: Any) -> Any:
        nonlocal function
        if function is None:
            function = _function(name)
        try:
            return function(self, other)
        except TypeError:
            return NotImplemented

    return operate


def _reflected(name: str) -> Callable[[Tensor, Any], Any]:
    """`other OP self`, `other` being no tensor."""
    function: Callable[..., Any] | None = None

    def operate(self: Tensor, other: Any) -> Any:
        nonlocal function
        if function is None:
            function = _find_function(name, False) or getattr(_aten, name)
        return function(other, self)

    return operate


def _unary(name: str) -> Callable[[Tensor], Any]:
    def operate(self: Tensor) -> Any:
        return _function(name)(self)

    return operate


def _inverted(self: Tensor) -> Tensor:
    if self.dtype.is_floating_point or self.dtype.is_complex:
        raise TypeError(f"~: only integers and bools have bits to invert, got {self.dtype}")
    return _function("bitwise_not")(self)


def _rtruediv(self: Tensor, other: Any) -> Any:
    """PyTorch divides a number by a tensor through the reciprocal."""
    try:
        return self.reciprocal() * other
    except TypeError:
        return NotImplemented


def _positive(self: Tensor) -> Tensor:
    if self.dtype is dtypes.bool:
        raise RuntimeError("+: a bool tensor has no sign")
    return self


def _or_not_implemented(function: Callable[..., Any]) -> Callable[[Tensor, Any], Any]:
    """A binary slot for which a TypeError means that the other operand is to be asked."""

    def operate(self: Tensor, other: Any) -> Any:
        try:
            return function(self, other)
        except TypeError:
            return NotImplemented

    return operate


_BINARY = {
    "__add__": "add", "__iadd__": "add_",
    "__sub__": "sub", "__rsub__": "rsub", "__isub__": "sub_",
    "__mul__": "mul", "__imul__": "mul_",
    "__truediv__": "div", "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__ipow__": "pow_",
    "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow",
    "__matmul__": "matmul",
    "__and__": "__and__", "__iand__": "__iand__",
    "__or__": "__or__", "__ior__": "__ior__",
    "__xor__": "__xor__", "__ixor__": "__ixor__",
    "__lshift__": "__lshift__", "__ilshift__": "__ilshift__",
    "__rshift__": "__rshift__", "__irshift__": "__irshift__",
    "__eq__": "eq", "__ne__": "ne",
    "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
}  # fmt: skip
_REFLECTED = {
    "__rfloordiv__": "floor_divide", "__rmod__": "remainder", "__rpow__": "pow",
    "__rmatmul__": "matmul",
    "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift",
}  # fmt: skip
_BITWISE = {"__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor"}
_UNARY = {"__neg__": "neg", "__abs__": "abs", "__invert__": "bitwise_not"}

# What handlers of __torch_function__ are shown. Slots not named here show the operator's method
# (`Tensor.add` for `+`); these show themselves, those that are Python functions in PyTorch with
# an empty dictionary of keywords.
_SHOWN = frozenset(
    (
        "__and__", "__or__", "__xor__", "__iand__", "__ior__", "__ixor__", "__eq__", "__invert__",
        "__lshift__", "__rshift__", "__ilshift__", "__irshift__",
    )
)  # fmt: skip
_SHOWN_WITH_KEYWORDS = frozenset(
    (
        "__rsub__", "__floordiv__", "__rfloordiv__", "__rmod__", "__pow__", "__rpow__",
        "__rmatmul__", "__rtruediv__", "__rlshift__", "__rrshift__",
    )
)  # fmt: skip


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


def _as_index(self: Tensor) -> int:
    if self.numel() != 1 or self.dtype.is_floating_point or self.dtype.is_complex:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(_aten.item.default(self))


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, bool, int, float, complex)):
        raise RuntimeError(
            f"Tensor.__contains__: expected a tensor or a number, got {type(element).__name__}"
        )
    return bool(
        _aten.any.default(
            _function("eq")(element, self)
            if isinstance(element, Tensor)
            else _function("eq")(self, element)
        ).item()
    )


# ---- attributes


def _missing_attribute(self: Tensor, name: str) -> Any:
    """The first access to an operator's method enters it into the type."""
    method = _find_function(name, True)
    if method is None:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
    _install_tensor_attribute(name, method)
    return method.__get__(self, type(self))


def _get_real(self: Tensor) -> Tensor:
    return _aten.real.default(self)


def _set_real(self: Tensor, value: Any) -> None:
    self.real.copy_(value)


def _get_imag(self: Tensor) -> Tensor:
    return _aten.imag.default(self)


def _set_imag(self: Tensor, value: Any) -> None:
    self.imag.copy_(value)


def _transposed(self: Tensor) -> Tensor:
    """All dimensions in reverse."""
    return _aten.permute.default(self, list(range(self.ndim - 1, -1, -1)))


def _matrix_transposed(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    if self.ndim == 0:
        return self
    if self.ndim == 1:
        raise RuntimeError("tensor.mT: expected matrices, got a tensor of 1 dimension")
    return _aten.transpose.int(self, -2, -1)


def _matrix_adjoint(self: Tensor) -> Tensor:
    """Transposed and conjugated."""
    transposed = _matrix_transposed(self)
    return _aten.conj.default(transposed)


def _adjoint(self: Tensor) -> Tensor:
    if self.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H: expected a matrix, got {self.ndim} dimensions; see mH")
    return _matrix_adjoint(self)


# ---- conversions


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
        return f"dispatch.{place}{name}"
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


def _numpy(self: Tensor, *, force: bool = False) -> Any:
    """The tensor's memory as an array; with `force`, a copy where it cannot be shared.

    Raises: TypeError for a tensor that is not on the CPU, RuntimeError for one that requires grad,
    whose conjugate or negative bit is set, or whose class has a `__torch_dispatch__`.
    """
    if has_handler(self):
        raise RuntimeError(f"numpy: {type(self).__name__} has a __torch_dispatch__, not supported")
    if force:
        return _numpy_view(self.detach().cpu().resolve_conj().resolve_neg())
    if self.device.type != "cpu":
        raise TypeError(f"numpy: a tensor on {self.device} has no memory here, use cpu() first")
    if self.requires_grad:
        raise RuntimeError("numpy: the tensor requires grad, use detach() first")
    if self.is_conj():
        raise RuntimeError("numpy: the conjugate bit is set, use resolve_conj() first")
    if self.is_neg():
        raise RuntimeError("numpy: the negative bit is set, use resolve_neg() first")
    return _numpy_view(self.detach())


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
    return _as_tensor(array)


def _tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers."""
    if self.device.type == "meta":
        raise NotImplementedError("tolist: a tensor on meta has no values")
    if _len_torch_dispatch_stack():  # below autograd, modes see these
        self = _aten.resolve_neg.default(_aten.resolve_conj.default(self))
    return _plain_values(self).tolist()


def _split(self: Tensor, split_size: Any, dim: int = 0) -> Any:
    """Views of `split_size` rows each along `dim`, or of the sizes in a list (Tensor.split)."""
    if _has_torch_function_unary(self):
        return _ask_torch_function(Tensor.split, (self,), (self, split_size), {"dim": dim})
    if isinstance(split_size, Tensor) and split_size.ndim == 0:
        split_size = int(split_size)
    name = "split" if isinstance(split_size, int) else "split_with_sizes"
    return _split_function(name)(self, split_size, dim)


_split.__name__ = "split"


@functools.cache
def _split_function(name: str) -> Callable[..., Any]:
    return _find_function(name, False) or getattr(_aten, name)


def _format(self: Tensor, spec: str) -> str:
    """A 0-d tensor is formatted as its number."""
    if self.ndim == 0 and self.device.type != "meta" and type(self) is Tensor:
        return format(self.detach().item(), spec)
    return object.__format__(self, spec)


# ---- registration

_as_tensor = _room("tensor.data.as_tensor")
_copy = _room("tensor.copy.deepcopy")
_plain_values = _room("tensor.data.plain_values")
_reduce = _room("tensor.copy.reduce")
_text = _room("tensor.text.tensor_text")


def _detached(self: Tensor) -> Tensor:
    """`x.data` where a mode or a handler is to see that it is taken."""
    return _aten.detach.default(self)


def _nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of what is not zero: a row for each, or with `as_tuple` a tensor by dimension."""
    if not isinstance(as_tuple, bool):
        raise TypeError(f"nonzero: as_tuple must be a bool, got {type(as_tuple).__name__}")
    if as_tuple:
        return tuple(_aten.nonzero_numpy.default(self))
    return _aten.nonzero.default(self)


def _reversed(self: Tensor) -> Tensor:
    """`reversed(x)`: the first dimension turned round."""
    return self.flip(0) if self.dim() else self


def _is_shared(self: Tensor) -> bool:
    """Whether the memory is shared with other processes: never."""
    return False


def _reduce_ex(self: Tensor, protocol: Any) -> Any:
    return _reduce(self, protocol)


def _set_state(self: Tensor, state: dict[str, Any]) -> None:
    """What pickle restores after `reduce`'s arguments: the attributes."""
    self.__dict__.update(state)


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    return _copy(self, memo)


def _length(self: Tensor) -> int:
    if self.dim() == 0:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


def _value(kind: str) -> Callable[[Tensor], Any]:
    def convert(self: Tensor) -> Any:
        return _VALUE_TYPES[kind](_item(self, kind))

    return convert


_VALUE_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


def _represent(self: Tensor, *, tensor_contents: Any = None) -> str:
    """The text of a tensor; handlers of __torch_function__ are asked first."""
    if _has_torch_function_unary(self):
        keywords = {"tensor_contents": tensor_contents}
        text: str = _ask_torch_function(Tensor.__repr__, (self,), (self,), keywords)
        return text
    with DisableTorchFunctionSubclass():
        return _text(self)


_represent.__name__ = "__repr__"


def _reverse_divide(self: Tensor, other: Any) -> Any:
    """`other / self`."""
    return _rtruediv(self, other)


def _shown_binary(name: str, operate: Callable[..., Any]) -> Callable[[Tensor, Any], Any]:
    """A binary slot as handlers see it."""
    if name in _SHOWN:
        return _or_not_implemented(_watch_slot(operate, name, counts_self=False))
    if name in _SHOWN_WITH_KEYWORDS:
        shown = _find_function("pow", True) if name == "__pow__" else None
        if name == "__rtruediv__":
            shown = vars(Tensor)["__rdiv__"]
        return _or_not_implemented(_watch_slot(operate, name, shown, keywords=True))
    return _or_not_implemented(operate)


def _of_tensors(
    reflected: Callable[[Tensor, Any], Any], straight: Callable[[Tensor, Any], Any]
) -> Callable[[Tensor, Any], Any]:
    """Python asks a subclass on the right first, which has no operator of its own: the left one's
    is meant."""

    def operate(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor) and isinstance(self, type(other)):
            return straight(other, self)
        return reflected(self, other)

    return operate


def _register_hooks() -> None:
    binary = {name: _shown_binary(name, _binary(operator)) for name, operator in _BINARY.items()}
    reflected = {name: _reflected(operator) for name, operator in _REFLECTED.items()}
    reflected["__rtruediv__"] = _rtruediv
    reflected.update(__radd__=binary["__add__"], __rmul__=binary["__mul__"])
    reflected["__rsub__"] = binary.pop("__rsub__")
    reflected.update((name, _binary(operator)) for name, operator in _BITWISE.items())
    for name, operate in binary.items():
        _set_tensor_hook(name, operate)
    for name, operate in reflected.items():
        shown = operate if name == "__rsub__" else _shown_binary(name, operate)
        _set_tensor_hook(name, _of_tensors(shown, binary[name.replace("__r", "__", 1)]))
    for name, operator in _UNARY.items():
        _set_tensor_hook(name, _unary(operator))
    plain: dict[str, Callable[..., Any]] = {
        "__getattr__": _missing_attribute, "__init__": _quiet(_room("tensor.data.construct")),
        "__iter__": _iterate, "__repr__": _represent, "data": _detached,
        "storage": _room("tensor.storage.call"),
        "storage_attribute": _room("tensor.storage.attribute"),
    }  # fmt: skip
    for name, function in plain.items():
        _set_tensor_hook(name, function)
    watched: dict[str, Callable[..., Any]] = {
        "__index__": _as_index, "__invert__": _inverted,
        **{f"__{kind}__": _value(kind) for kind in _VALUE_TYPES},
    }  # fmt: skip
    for name, function in watched.items():
        _set_tensor_hook(name, _watch_slot(function, name))
    _set_tensor_hook("__pos__", Tensor.positive)
    _set_tensor_hook("__contains__", _watch_slot(_contains, "__contains__", keywords=True))
    _set_tensor_hook("__len__", _watch_slot(_length, "__len__", keywords=True))
    for name in ("getitem", "setitem"):
        slot = _watch_slot(_room(f"tensor.index.{name}"), f"__{name}__", counts_self=False)
        _set_tensor_hook(f"__{name}__", slot)


def _install_methods() -> None:
    for name, dtype in DTYPE_METHODS.items():
        _install_tensor_attribute(name, _to_dtype_method(name, getattr(dtypes, dtype)))
    for name, fact in FACTS.items():
        _install_tensor_attribute(name, fact)
    for name in ("cpu", "cuda", "xpu"):
        _install_tensor_attribute(name, _to_device_method(name))
    for name, value in {
        "H": property(_adjoint), "T": property(_transposed), "mH": property(_matrix_adjoint),
        "mT": property(_matrix_transposed), "imag": property(_get_imag, _set_imag),
        "real": property(_get_real, _set_real), "__array__": _array, "__array_priority__": 1000,
        "__array_wrap__": _array_wrap, "__deepcopy__": _deepcopy,
        "__dlpack__": _room("_C.dlpack.to_dlpack"),
        "__dlpack_device__": _room("_C.dlpack.dlpack_device"), "__format__": _format,
        "__rdiv__": _reverse_divide, "__reduce_ex__": _reduce_ex, "__repr__": _represent,
        "__reversed__": _reversed, "__setstate__": _set_state,
        "norm": _room("tensor.functions.norm"), "unique": _room("tensor.functions.unique"),
        "unique_consecutive": _room("tensor.functions.unique_consecutive"),
        "is_shared": _is_shared, "new_tensor": _room("tensor.data.new_tensor"),
        "nonzero": _nonzero, "numpy": _numpy, "positive": _positive, "to": _to,
        "split": _split, "tolist": _tolist, "type": _type,
    }.items():  # fmt: skip
        _install_tensor_attribute(name, value)


# Methods that do not show handlers the class of a plain `self`, for their arguments are parsed.
_PARSED = frozenset(
    (
        "_is_view", "is_contiguous", "nonzero", "numpy", "requires_grad_", "size", "stride", "to",
        "type", "cpu", "cuda", "xpu", *DTYPE_METHODS,
    )
)  # fmt: skip
# Methods that are Python functions in PyTorch: handlers always get keywords.
_PYTHON = frozenset(
    (
        "__array__", "__array_wrap__", "__deepcopy__", "__dlpack__",
        "__dlpack_device__", "__format__", "__rdiv__", "__reversed__", "backward", "is_shared",
    )
)  # fmt: skip
_UNSEEN = frozenset(("_make_subclass", "_make_wrapper_subclass", "as_subclass", "is_view", "split"))

_install_methods()
_watch_tensor(
    _PARSED, _PYTHON, {"ndimension": "dim", "nelement": "numel"},
    ("data", "grad", "requires_grad"), _UNSEEN, _enter_methods,
)  # fmt: skip
_register_hooks()
