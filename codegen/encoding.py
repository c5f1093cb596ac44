"""A schema as numbers: the argument kinds, flags and default kinds of `dispatch/_C/emitted.h`.

The generator writes these numbers into tables; the dispatcher computes the same ones for a schema
that a library defines at run time. `emitted.h` is the other end of every constant here, and a
test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping

from .schema import AliasInfo, Argument, FunctionSchema
from .types import DictType, ListType, OptionalType, Type

__all__ = [
    "AF",
    "AK",
    "DF",
    "OF",
    "alias_number",
    "arg_spec",
    "default_spec",
    "is_inplace_name",
    "named",
    "named_bits",
    "op_flags",
]

AK = {
    name: number
    for number, name in enumerate(
        (
            "OTHER",
            "TENSOR",
            "INT",
            "FLOAT",
            "BOOL",
            "COMPLEX",
            "SCALAR",
            "STR",
            "DTYPE",
            "LAYOUT",
            "DEVICE",
            "MEMORY_FORMAT",
            "GENERATOR",
            "STORAGE",
            "STREAM",
            "DICT",
            "DIMNAME",
            "QSCHEME",
        )
    )
}
AF = {
    name: 1 << bit
    for bit, name in enumerate(
        (
            "OPTIONAL",
            "LIST",
            "ELEM_OPTIONAL",
            "LIST2",
            "KWARG_ONLY",
            "OUT",
            "WRITE",
            "HAS_DEFAULT",
            "SYM",
        )
    )
}
DF = {
    name: number
    for number, name in enumerate(
        (
            "NONE",
            "BOOL",
            "INT",
            "FLOAT",
            "STR",
            "INTS",
            "BOOLS",
            "FLOATS",
            "DTYPE",
            "LAYOUT",
            "DEVICE",
            "MEMORY_FORMAT",
        )
    )
}
OF = {
    name: 1 << bit
    for bit, name in enumerate(("FUNCTION", "METHOD", "MUTABLE", "ALIASING", "INPLACE", "OUT"))
}

_KIND_OF = {
    "Tensor": AK["TENSOR"], "int": AK["INT"], "SymInt": AK["INT"], "float": AK["FLOAT"],
    "SymFloat": AK["FLOAT"], "bool": AK["BOOL"], "SymBool": AK["BOOL"],
    "complex": AK["COMPLEX"], "Scalar": AK["SCALAR"], "number": AK["SCALAR"], "str": AK["STR"],
    "ScalarType": AK["DTYPE"], "Layout": AK["LAYOUT"], "Device": AK["DEVICE"],
    "MemoryFormat": AK["MEMORY_FORMAT"], "Generator": AK["GENERATOR"],
    "Storage": AK["STORAGE"], "Stream": AK["STREAM"], "Dimname": AK["DIMNAME"],
    "QScheme": AK["QSCHEME"],
}  # fmt: skip
_SYMBOLIC = frozenset(("SymInt", "SymFloat", "SymBool"))
_CODE_DEFAULTS = {
    "ScalarType": DF["DTYPE"], "Layout": DF["LAYOUT"], "MemoryFormat": DF["MEMORY_FORMAT"],
}  # fmt: skip
_WILDCARD = 255


def arg_spec(argument: Argument) -> tuple[int, int, int, int]:
    """(ArgKind, ArgFlag bits, alias number, N of `T[N]` or 0) of an argument or a return value."""
    kind, flags, size = _type_spec(argument.real_type)
    if argument.kwarg_only:
        flags |= AF["KWARG_ONLY"]
    if argument.has_default_value():
        flags |= AF["HAS_DEFAULT"]
    alias = argument.alias_info
    if alias is None:
        return kind, flags, 0, size
    if alias.is_write:
        flags |= AF["WRITE"] | (AF["OUT"] if argument.kwarg_only else 0)
    return kind, flags, alias_number(alias), size


def _type_spec(type_: Type) -> tuple[int, int, int]:
    flags = size = 0
    if isinstance(type_, OptionalType):
        flags |= AF["OPTIONAL"]
        type_ = type_.element
    if isinstance(type_, ListType):
        flags |= AF["LIST"]
        size = type_.size or 0
        type_ = type_.element
        if isinstance(type_, ListType):
            flags |= AF["LIST2"]
            type_ = type_.element
        if isinstance(type_, OptionalType):
            flags |= AF["ELEM_OPTIONAL"]
            type_ = type_.element
    if isinstance(type_, DictType):
        return AK["DICT"], flags, size
    if type_.text in _SYMBOLIC:
        flags |= AF["SYM"]
    return _KIND_OF.get(type_.text, AK["OTHER"]), flags, size


def alias_number(alias: AliasInfo) -> int:
    """1 for set a, 2 for b, ..., 255 for the wildcard; the elements' set for a list.

    Names of more than one letter share the numbers above 26: two that meet count as one set.
    """
    while not alias.before and alias.contained is not None:
        alias = alias.contained
    if not alias.before:
        return 0
    name = alias.before[0]
    if name == "*":
        return _WILDCARD
    if len(name) == 1 and "a" <= name <= "z":
        return ord(name) - ord("a") + 1
    return 27 + sum(i * ord(c) for i, c in enumerate(name, 1)) % 220


def default_spec(
    argument: Argument,
) -> tuple[int, int, float, str | None, tuple[int, ...] | None]:
    """(DefaultKind, i, f, s, v) of an `emitted_default`; ValueError for a complex default."""
    value = argument.default_value
    type_ = argument.real_type
    if value is None:
        return DF["NONE"], 0, 0.0, None, None
    if isinstance(value, list):
        return _list_default(value, type_)
    text = type_.element.text if isinstance(type_, OptionalType) else type_.text
    if text in _CODE_DEFAULTS and isinstance(value, int):
        return _CODE_DEFAULTS[text], value, 0.0, None, None
    if text == "Device":  # a device, or its name in `Device?`
        return DF["DEVICE"], 0, 0.0, str(value), None
    if isinstance(value, bool):
        return DF["BOOL"], int(value), 0.0, None, None
    if isinstance(value, int):
        return DF["INT"], value, 0.0, None, None
    if isinstance(value, float):
        return DF["FLOAT"], 0, value, None, None
    if isinstance(value, str):
        return DF["STR"], 0, 0.0, value, None
    raise ValueError(f"a default of type {type(value).__name__} has no record: {argument}")


def _list_default(
    value: list[object], type_: Type
) -> tuple[int, int, float, str | None, tuple[int, ...] | None]:
    if isinstance(type_, OptionalType):
        type_ = type_.element
    of_floats = isinstance(type_, ListType) and type_.element.text in ("float", "SymFloat")
    if of_floats or any(isinstance(v, float) for v in value):
        return DF["FLOATS"], len(value), 0.0, repr(value), None
    numbers = tuple(int(v) for v in value if isinstance(v, int))
    if len(numbers) != len(value):
        raise ValueError(f"a list default of such elements has no record: {value!r}")
    booleans = isinstance(type_, ListType) and type_.element.text == "bool"
    return DF["BOOLS" if booleans else "INTS"], len(value), 0.0, None, numbers


def named(prefix: str, names: Mapping[str, int], number: int) -> str:
    """The C name of a number, `AK_TENSOR`."""
    return next(f"{prefix}_{name}" for name, value in names.items() if value == number)


def named_bits(prefix: str, names: Mapping[str, int], bits: int) -> str:
    """The C expression of a set of bits, `AF_LIST | AF_SYM`, or 0."""
    return " | ".join(f"{prefix}_{name}" for name, bit in names.items() if bits & bit) or "0"


def is_inplace_name(name: str) -> bool:
    """Whether a name (namespace or not) is that of an in-place operator: `add_`, `__iand__`."""
    base = name.rpartition("::")[2]
    if base.endswith("__"):
        return base.startswith("__i")
    return base.endswith("_")


def op_flags(schema: FunctionSchema) -> int:
    """OpFlag bits that follow from the schema."""
    flags = OF["MUTABLE"] if schema.is_mutable else 0
    if any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
        flags |= OF["ALIASING"]
    if is_inplace_name(schema.name):
        flags |= OF["INPLACE"]
    if any(a.is_out for a in schema.arguments):
        flags |= OF["OUT"]
    return flags
