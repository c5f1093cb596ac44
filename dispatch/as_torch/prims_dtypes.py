"""Dtypes of results as `torch._prims_common` works them out for functions written in Python.

A dtype is of one of four types of Python, in the order bool, int, float, complex; the highest type
among the arguments decides, and then the highest dtype of that type, tensors without dimensions
and numbers after the others.
"""

import enum
from collections.abc import Callable, Iterable
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.as_torch.prims_common import dtype_to_type

__all__ = [
    "ELEMENTWISE_TYPE_PROMOTION_KIND", "REDUCTION_OUTPUT_TYPE_KIND", "RETURN_TYPE",
    "can_safe_cast_to", "check_same_dtype", "corresponding_complex_dtype",
    "corresponding_real_dtype", "dtype_or_default", "elementwise_dtypes",
    "get_computation_dtype", "get_dtype", "get_higher_dtype", "get_higher_type",
    "is_boolean_dtype", "is_complex_dtype", "is_float_dtype", "is_grad_dtype", "is_integer_dtype",
    "is_low_precision_dtype", "is_weakly_lesser_type", "number_type", "reduction_dtypes",
    "type_to_dtype",
]  # fmt: skip

_ORDER = (bool, int, float, complex)
_NUMBERS = (bool, int, float, complex, dispatch.SymInt, dispatch.SymFloat, dispatch.SymBool)
_COMPLEX = {
    dispatch.float16: dispatch.complex32,
    dispatch.bfloat16: dispatch.complex64,
    dispatch.float32: dispatch.complex64,
    dispatch.float64: dispatch.complex128,
}
_REAL = {
    dispatch.complex32: dispatch.float16,
    dispatch.complex64: dispatch.float32,
    dispatch.complex128: dispatch.float64,
}
_COMPUTED_IN = {
    dispatch.bfloat16: dispatch.float32,
    dispatch.float16: dispatch.float32,
    dispatch.complex32: dispatch.complex64,
}


class ELEMENTWISE_TYPE_PROMOTION_KIND(enum.Enum):
    """How a function of elements finds its result's dtype."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(enum.Enum):
    """How a function that folds dimensions does."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


class RETURN_TYPE(enum.Enum):
    """What a function gives: something new, a view, or what it wrote to."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)
    NONE = (3,)


def is_boolean_dtype(dtype: Any) -> bool:
    """Whether it is bool."""
    return bool(dtype == dispatch.bool)


def is_float_dtype(dtype: Any) -> bool:
    """Whether it is of real floating-point numbers."""
    return bool(dtype.is_floating_point)


def is_complex_dtype(dtype: Any) -> bool:
    """Whether it is of complex numbers."""
    return bool(dtype.is_complex)


def is_integer_dtype(dtype: Any) -> bool:
    """Whether it is of whole numbers, bool not among them."""
    return not (dtype.is_floating_point or dtype.is_complex or is_boolean_dtype(dtype))


def is_grad_dtype(dtype: Any) -> bool:
    """Whether gradients can be of it."""
    return is_float_dtype(dtype) or is_complex_dtype(dtype)


def is_low_precision_dtype(dtype: Any) -> bool:
    """Whether it is computed in a wider one."""
    return dtype in _COMPUTED_IN


def type_to_dtype(typ: type) -> Any:
    """The dtype for a type of Python; ValueError for another type."""
    if typ in (bool, dispatch.SymBool):
        return dispatch.bool
    if typ in (int, dispatch.SymInt):
        return dispatch.long
    if typ in (float, dispatch.SymFloat):
        return dispatch.get_default_dtype()
    if typ is complex:
        return corresponding_complex_dtype(dispatch.get_default_dtype())
    raise ValueError(f"type_to_dtype: expected bool, int, float or complex, got {typ}")


def number_type(x: Any) -> type:
    """The type of Python that a number counts as."""
    symbolic = {dispatch.SymInt: int, dispatch.SymFloat: float, dispatch.SymBool: bool}
    return symbolic.get(type(x), type(x))


def get_higher_type(a: type, b: type) -> type:
    """The later one of bool, int, float, complex; RuntimeError for others."""
    if a not in _ORDER or b not in _ORDER:
        raise RuntimeError(f"get_higher_type: expected bool, int, float or complex: {a}, {b}")
    return max(a, b, key=_ORDER.index)


def is_weakly_lesser_type(a: type, b: type) -> bool:
    """Whether `a` is not later than `b`."""
    return get_higher_type(a, b) is b


def can_safe_cast_to(*, cast_to: Any, cast_from: Any) -> bool:
    """Whether the type is kept, or becomes a later one."""
    return is_weakly_lesser_type(dtype_to_type(cast_from), dtype_to_type(cast_to))


def corresponding_real_dtype(dtype: Any) -> Any:
    """The dtype of the parts of complex numbers."""
    return _REAL[dtype]


def corresponding_complex_dtype(dtype: Any) -> Any:
    """The complex dtype whose parts are of this one, or hold it."""
    return _COMPLEX[dtype]


def get_computation_dtype(dtype: Any) -> Any:
    """The dtype that its numbers are computed in."""
    return _COMPUTED_IN.get(dtype, dtype)


def dtype_or_default(dtype: Any) -> Any:
    """The dtype, or the default one for None."""
    return dispatch.get_default_dtype() if dtype is None else dtype


def get_dtype(x: Any) -> Any:
    """The dtype of a tensor, or of a number as one."""
    return x.dtype if isinstance(x, Tensor) else type_to_dtype(number_type(x))


def get_higher_dtype(a: Any, b: Any) -> Any:
    """The dtype that holds both: of dtypes, tensors and numbers; None counts for nothing."""
    one, other = (
        x if x is None or isinstance(x, dispatch.dtype) else get_dtype(x) for x in (a, b)
    )
    if one is None or other is None:
        return other if one is None else one
    return dispatch.promote_types(one, other)


def check_same_dtype(*args: Any) -> None:
    """RuntimeError unless the tensors are of one dtype, and numbers of its type."""
    first: Any = None
    for arg in args:
        if isinstance(arg, Tensor):
            if first is not None and arg.dtype is not first:
                raise RuntimeError(f"Tensor with dtype {arg.dtype} is not the expected {first}")
            first = arg.dtype
    types = {dtype_to_type(first)} if first is not None else set()
    if len(types | {number_type(a) for a in args if isinstance(a, _NUMBERS)}) > 1:
        raise RuntimeError("numbers and tensors are of different types")


def _highest(args: Iterable[Any], fits: Callable[[Any], bool], as_complex: bool = False) -> Any:
    """The highest dtype that fits, of tensors with dimensions if there are any."""
    found: dict[bool, Any] = {}
    for x in args:
        if isinstance(x, Tensor) and fits(x.dtype):
            real = as_complex and is_float_dtype(x.dtype)
            dtype = corresponding_complex_dtype(x.dtype) if real else x.dtype
            found[x.ndim > 0] = get_higher_dtype(found.get(x.ndim > 0), dtype)
    return found.get(True, found.get(False))


def _common(args: tuple[Any, ...]) -> Any:
    """The dtype of arguments together, before a function has its say."""
    highest: type = bool
    for x in args:
        if not isinstance(x, (*_NUMBERS, Tensor)):
            raise ValueError(f"elementwise_dtypes: expected numbers and tensors, got {type(x)}")
        own = dtype_to_type(x.dtype) if isinstance(x, Tensor) else number_type(x)
        highest = get_higher_type(highest, own)
    if highest is bool:
        return dispatch.bool
    fits = {int: is_integer_dtype, float: is_float_dtype, complex: is_grad_dtype}[highest]
    found = _highest(args, fits, highest is complex)
    return type_to_dtype(highest) if found is None else found


def elementwise_dtypes(
    *_args: Any, type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND
) -> tuple[Any, Any]:
    """(the dtype to compute in, the result's) of a function of elements; None is passed over.

    Raises: ValueError for what is neither tensor nor number, and for another kind.
    """
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    result = _common(tuple(x for x in _args if x is not None))
    match type_promotion_kind:
        case kinds.DEFAULT:
            return get_computation_dtype(result), result
        case kinds.NO_OPMATH:
            return result, result
        case kinds.INT_TO_FLOAT:
            result = result if is_grad_dtype(result) else dispatch.get_default_dtype()
            return get_computation_dtype(result), result
        case kinds.COMPLEX_TO_FLOAT:
            return get_computation_dtype(result), _REAL.get(result, result)
        case kinds.BOOL_TO_LONG:
            result = dispatch.long if is_boolean_dtype(result) else result
            return get_computation_dtype(result), result
        case kinds.ALWAYS_BOOL:
            return get_computation_dtype(result), dispatch.bool
    raise ValueError(f"elementwise_dtypes: unknown kind {type_promotion_kind}")


def reduction_dtypes(
    arg: Any, output_dtype_kind: REDUCTION_OUTPUT_TYPE_KIND, dtype: Any = None
) -> tuple[Any, Any]:
    """(the dtype to compute in, the result's or None for the same) of a function that folds."""
    kinds = REDUCTION_OUTPUT_TYPE_KIND
    given = arg.dtype if dtype is None else dtype
    computed = get_computation_dtype(given)
    match output_dtype_kind:
        case kinds.SAME:
            return computed, given
        case kinds.COMPLEX_TO_FLOAT:
            return computed, _REAL.get(given, given)
        case kinds.KEEP_PROMOTED_TYPE:
            return computed, None
    return computed, dispatch.bool
