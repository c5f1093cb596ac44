"""Functions of the package that are no operators: questions about values, shapes and threads.

Each has the name and the behaviour of its counterpart in `torch`. Imported when one is first asked
for; `dispatch.__getattr__` knows the names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import e, inf, nan, pi
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.arrays import from_numpy
from dispatch._C.guards import DisableTorchFunction
from dispatch._C.naming import full_name, package_name
from dispatch._C.size import Size
from dispatch._C.storage import Storage
from dispatch._C.tensor import Tensor
from dispatch._C.torch_function import (
    _ask_torch_function,
    _has_torch_function_unary,
    _watch_function,
)
from dispatch._ops import ops
from dispatch.tensor.data import _empty, is_any_storage, over_storage, tensor
from dispatch.tensor.methods import nonzero as _nonzero
from dispatch.tensor.typed_storage import TypedStorage

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "broadcast_shapes",
    "e",
    "frombuffer",
    "get_device",
    "inf",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "nan",
    "newaxis",
    "nonzero",
    "numel",
    "pi",
    "result_type",
    "typename",
]

_aten = ops.aten
newaxis = None


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is a storage."""
    return isinstance(obj, (Storage, TypedStorage))


def _question(name: str) -> Callable[[Tensor], Any]:
    """The method `name` as a function of one tensor. TypeError for anything else."""

    def ask(input: Tensor) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}: expected a Tensor, got {type(input).__name__}")
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"`input.{name}()`."
    return _watch_function(ask, arguments=True)


get_device = _question("get_device")
is_complex = _question("is_complex")
is_conj = _question("is_conj")
is_floating_point = _question("is_floating_point")
is_inference = _question("is_inference")
is_neg = _question("is_neg")
is_nonzero = _question("is_nonzero")
is_signed = _question("is_signed")
numel = _question("numel")


@functools.partial(_watch_function, arguments=True)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes. TypeError for anything else."""
    for t in (input, other):
        if not isinstance(t, Tensor):
            raise TypeError(f"is_same_size: expected a Tensor, got {type(t).__name__}")
    return input.shape == other.shape


def typename(obj: Any, /) -> str:
    """The name of an object's type; of a tensor its kind, `dispatch.FloatTensor`."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None)
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that all shapes broadcast to; an int is a shape of one dimension.

    Raises: RuntimeError when they do not fit together and for what is no shape, ValueError for a
    negative size.
    """
    for shape in shapes:
        if not hasattr(shape, "__iter__") and not hasattr(shape, "__index__"):
            raise RuntimeError(
                "broadcast_shapes: Input shapes should be of type ints, a tuple of ints, or a list "
                f"of ints, got {shape}"
            )
    given = [tuple(s) if hasattr(s, "__iter__") else (s,) for s in shapes]
    result = [1] * max((len(s) for s in given), default=0)
    for shape in given:
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] < 0:
                raise ValueError(f"broadcast_shapes: a dimension with negative length in {shape}")
            if shape[i] in (1, result[i]):
                continue
            if result[i] != 1:
                raise RuntimeError(f"broadcast_shapes: {tuple(shapes)} do not fit together")
            result[i] = shape[i]
    return Size(result)


def _non_sym_sizes(self: Tensor) -> tuple[int, ...]:
    """The sizes as plain numbers: an expression is guarded to be what it stands for (torch._C)."""
    return tuple(int(size) for size in self.size())


def _operand(value: Any) -> tuple[int, dtypes.dtype]:
    """(priority, dtype): tensors with dimensions come first, then those without, then numbers."""
    if isinstance(value, Tensor):
        return (2 if value.ndim else 1), value.dtype
    if isinstance(value, bool):
        return 0, dtypes.bool
    if isinstance(value, int):
        return 0, dtypes.int64
    if isinstance(value, np.number):
        return _operand(value.item())
    default = dtypes.get_default_dtype()
    if isinstance(value, float):
        return 0, default
    if isinstance(value, complex):
        return 0, dtypes.promote_types(default, dtypes.complex32)
    raise TypeError(f"result_type: expected tensors or numbers, got {type(value).__name__}")


def _category(dtype: dtypes.dtype) -> int:
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating_point else int(dtype is not dtypes.bool)


@functools.partial(_watch_function, arguments=True)
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of an operation on two tensors or numbers (torch.result_type)."""
    both = isinstance(tensor1, Tensor) and isinstance(tensor2, Tensor)
    if both and (tensor1.ndim == 0) == (tensor2.ndim == 0):
        return dtypes.promote_types(tensor1.dtype, tensor2.dtype)
    operands = sorted((_operand(v) for v in (tensor1, tensor2)), key=lambda pair: -pair[0])
    (first, result), (second, other) = operands
    if first != second and result.is_floating_point and other.is_complex:
        other = dtypes.complex32  # the width is that of the operand with more say
    if first != second and _category(other) <= _category(result):
        return result
    if first != second and not result.is_floating_point:
        return other  # unsigned numbers of 16 bits and more too, which promotion has none for
    return dtypes.promote_types(result, other)


def frombuffer(
    buffer: Any,
    *,
    dtype: dtypes.dtype,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one dimension over the memory of a buffer.

    A negative `count` stands for all that is there.

    Raises: ValueError for a count or an offset that does not fit the buffer, and for what is none;
    TypeError for one that is no int; RuntimeError for a buffer with gaps.
    """
    for name, number in (("count", count), ("offset", offset)):
        if type(number) is not int:
            raise TypeError(f"frombuffer: {name} must be int, not {type(number).__name__}")
    try:
        view = memoryview(buffer)
    except TypeError:
        kind = type(buffer).__name__
        text = f"frombuffer: object does not implement Python buffer protocol. It is a {kind}"
        raise ValueError(text) from None
    if not view.c_contiguous:
        raise RuntimeError("frombuffer: expected a contiguous buffer")
    numpy_dtype = dtypes._numpy_dtype(dtype)
    _check_part(view.nbytes, count, offset, numpy_dtype.itemsize)
    array = np.frombuffer(buffer, dtype=numpy_dtype, count=max(count, -1), offset=offset)
    made = from_numpy(array)
    return made.requires_grad_(True) if requires_grad else made


def _check_part(nbytes: int, count: int, offset: int, itemsize: int) -> None:
    """ValueError unless a buffer has `count` items behind its first `offset` bytes."""
    if nbytes == 0 or count == 0:
        raise ValueError(
            f"frombuffer: both buffer length ({nbytes}) and count ({count}) must not be 0"
        )
    if not 0 <= offset < nbytes:
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be at least 0 and below the "
            f"buffer length ({nbytes} bytes)"
        )
    if count < 0 and (nbytes - offset) % itemsize:
        raise ValueError(
            f"frombuffer: buffer length ({nbytes - offset} bytes) after offset ({offset} bytes) "
            f"must be a multiple of the element's {itemsize}"
        )
    if count * itemsize > nbytes - offset:
        raise ValueError(
            f"frombuffer: requested buffer length ({count} * {itemsize} bytes) after offset "
            f"({offset} bytes) must fit the buffer length ({nbytes} bytes)"
        )


@functools.partial(_watch_function, arguments=True)
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The places of what is not zero: a row for each, or with `as_tuple` a tensor by dimension."""
    if not isinstance(input, Tensor):
        raise TypeError(f"nonzero: expected a Tensor, got {type(input).__name__}")
    if out is None:
        return _nonzero(input, as_tuple=as_tuple)
    if as_tuple:
        raise RuntimeError("nonzero: `out` takes no tuple")
    return _aten.nonzero.out(input, out=out)


_UNEXPLAINED = "Expected cond to be True, but got False"


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | None) -> None:
    """Raise `error_type` unless `cond` holds; `message` makes its text."""
    if hasattr(cond, "node"):
        cond = cond.node.expect_true("", 0)
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if not issubclass(error_type, Exception) or issubclass(error_type, Warning):
        raise AssertionError(f"error_type must be an Exception and no Warning, got {error_type}")
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNEXPLAINED if message is None else str(message()))


def _check_as(kind: type[Exception], name: str) -> Callable[..., None]:
    def check(cond: Any, message: Callable[[], Any] | None = None) -> None:
        _check_with(kind, cond, message)

    check.__name__ = name
    check.__doc__ = f"Raise {kind.__name__} unless `cond` holds; `message` makes its text."
    return check


def _check_tensor_all_with(
    error_type: type[Exception], cond: Any, message: Callable[[], Any] | None = None
) -> None:
    """Raise `error_type` unless every element of a bool tensor is True."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not dtypes.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, _aten._is_all_true.default(cond).item(), message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise RuntimeError unless every element of a bool tensor is True."""
    _check_tensor_all_with(RuntimeError, cond, message)


_check = _check_as(RuntimeError, "_check")
_check_index = _check_as(IndexError, "_check_index")
_check_not_implemented = _check_as(NotImplementedError, "_check_not_implemented")
_check_type = _check_as(TypeError, "_check_type")
_check_value = _check_as(ValueError, "_check_value")


def _assert(condition: Any, message: str) -> None:
    """`assert` that survives `python -O`; objects that are no tensors are asked for a handler."""
    if type(condition) is not Tensor and _has_torch_function_unary(condition):
        _ask_torch_function(_assert, (condition,), (condition, message), {})
    elif not condition:
        raise AssertionError(message)


def _typed(name: str, dtype: str) -> type:
    """`dispatch.FloatTensor`: makes tensors of one dtype, and recognises them."""

    class Kind(type):
        def __instancecheck__(cls, obj: Any) -> bool:
            return isinstance(obj, Tensor) and obj.type() == full_name(name)

        def __init__(cls, called: str, bases: tuple[type, ...], own: dict[str, Any]) -> None:
            if bases:
                raise TypeError(f"type '{full_name(name)}' is not an acceptable base type")

    def new(cls: type, *args: Any, size: Any = None, device: Any = "cpu") -> Tensor:
        args = args if size is None else (*args, Size(size))
        if device is not None and str(device).partition(":")[0] != "cpu":
            raise RuntimeError(f"{name}: makes tensors on cpu, not on {device}")
        if len(args) == 1 and is_any_storage(args[0]):
            return over_storage(args[0], kind)
        if len(args) == 1 and isinstance(args[0], Tensor):
            if args[0].dtype is not kind:
                raise TypeError(f"{name}: expected a tensor of {kind}, got one of {args[0].dtype}")
            return ops.aten.alias(args[0].detach())
        if len(args) == 1 and isinstance(args[0], (float, complex)):
            raise TypeError(f"{name}: expected sizes or a sequence, got {args[0]!r}")
        if len(args) == 1 and not isinstance(args[0], (int, Size)):
            return tensor(args[0], dtype=kind)
        sizes = list(args[0]) if args and isinstance(args[0], Size) else list(args) or [0]
        with DisableTorchFunction():
            return _empty(sizes, kind)

    kind = getattr(dtypes, dtype)
    text = f"Called, it makes a tensor of {dtype} on the CPU; `isinstance` asks whether one is."
    own = {"__new__": new, "__module__": package_name(), "__doc__": text}
    return Kind(name, (), own | {"dtype": kind, "layout": dtypes.strided, "is_cuda": False})


BFloat16Tensor = _typed("BFloat16Tensor", "bfloat16")
BoolTensor = _typed("BoolTensor", "bool")
ByteTensor = _typed("ByteTensor", "uint8")
CharTensor = _typed("CharTensor", "int8")
DoubleTensor = _typed("DoubleTensor", "float64")
FloatTensor = _typed("FloatTensor", "float32")
HalfTensor = _typed("HalfTensor", "float16")
IntTensor = _typed("IntTensor", "int32")
LongTensor = _typed("LongTensor", "int64")
ShortTensor = _typed("ShortTensor", "int16")
