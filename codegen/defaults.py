"""Defaults of arguments: the words that stand for numbers, and what value a type takes.

Called by the parser with each constant that it reads. PyTorch's conversions are kept: a `float`
turns 1 into 1.0, a `float?` keeps the int, an enumeration takes the number of its word.
"""

from __future__ import annotations

from .types import OptionalType, Type

__all__ = ["LISTED_KINDS", "NAMED_CONSTANTS", "NO_DEFAULT", "fit", "fit_element"]

NO_DEFAULT = object()

# Words that stand for a number as a default, wherever PyTorch takes them.
NAMED_CONSTANTS = {
    "Mean": 1,
    "Sum": 2,
    "contiguous_format": 0,
    "preserve_format": 1,
    "channels_last": 2,
    "channels_last_3d": 3,
    "strided": 0,
    "sparse_coo": 1,
    "sparse_csr": 2,
    "sparse_csc": 4,
    "sparse_bsr": 5,
    "sparse_bsc": 6,
    "jagged": 7,
    "uint8": 0,
    "int8": 1,
    "int16": 2,
    "short": 2,
    "int": 3,
    "int32": 3,
    "int64": 4,
    "long": 4,
    "half": 5,
    "float16": 5,
    "float": 6,
    "float32": 6,
    "double": 7,
    "float64": 7,
    "complex32": 8,
    "complex64": 9,
    "complex128": 10,
    "bool": 11,
    "bfloat16": 15,
}
_NUMBER_KINDS = frozenset({"FloatType", "SymFloatType"})
_INTEGER_KINDS = frozenset(
    {"IntType", "SymIntType", "ScalarTypeType", "LayoutType", "MemoryFormatType"}
)
LISTED_KINDS = _NUMBER_KINDS | _INTEGER_KINDS | {"BoolType", "ComplexType"}


def fit(value: object, type_: Type, optional: bool) -> object:
    """`value` as a default of `type_`, or `NO_DEFAULT`.

    PyTorch keeps a number as it is written when the type is optional: `float? x=1` holds an int.
    None is a default of any type but a device: `int x=None` can only be left out.
    """
    kind = type_.kind()
    if value is None:
        return NO_DEFAULT if kind == "DeviceObjType" else None
    if kind in _NUMBER_KINDS:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return NO_DEFAULT
        return value if optional else float(value)
    if kind == "NumberType" or kind == "ComplexType":
        return value if isinstance(value, (int, float, complex)) else NO_DEFAULT
    if kind == "BoolType" or kind == "SymBoolType":
        if not isinstance(value, int):
            return NO_DEFAULT
        return bool(value)
    if kind in _INTEGER_KINDS:
        return value if isinstance(value, int) and not isinstance(value, bool) else NO_DEFAULT
    if kind == "StringType" or kind == "DeviceObjType":
        return value if isinstance(value, str) else NO_DEFAULT
    if isinstance(type_, OptionalType):
        return fit(value, type_.element, True)
    return NO_DEFAULT  # a tensor, a generator and so on have one default: None


def fit_element(value: object, element: Type) -> object:
    """`value` as an element of a list that is a default: a bool is written as one."""
    kind = element.kind()
    if value is None or kind not in LISTED_KINDS:
        return NO_DEFAULT
    if kind == "BoolType" and not isinstance(value, bool):
        return NO_DEFAULT
    return fit(value, element, False)
