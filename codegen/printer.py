"""Schemas as text: the other half of the parser, and its inverse.

Called by `str()` of what `schema` defines. What PyTorch prints for the same schema is printed here
to the letter, floats and repeated list elements included, so that texts can be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .types import ListType, OptionalType, Type

if TYPE_CHECKING:
    from .schema import AliasInfo, FunctionSchema

__all__ = ["default_text", "schema_text", "type_text"]


def schema_text(schema: FunctionSchema) -> str:
    """The text of a whole schema."""
    name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
    parts: list[str] = []
    starred = False
    for argument in schema._arguments:
        if argument.kwarg_only and not starred:
            parts.append("*")
            starred = True
        parts.append(str(argument))
    if schema.is_vararg:
        parts.append("...")
    return f"{name}({', '.join(parts)}) -> {_returns_text(schema)}"


def _returns_text(schema: FunctionSchema) -> str:
    parts = [str(r) for r in schema.returns]
    if schema.is_varret:
        parts.append("...")
    if len(parts) == 1 and not parts[0].startswith("("):
        return parts[0]
    return f"({', '.join(parts)})"


def type_text(type_: Type, alias: AliasInfo | None) -> str:
    """A type with its alias annotations in their places."""
    if alias is None:
        return type_.text
    if isinstance(type_, OptionalType):
        return type_text(type_.element, alias) + "?"
    if isinstance(type_, ListType):
        size = "" if type_.size is None else str(type_.size)
        return f"{type_text(type_.element, alias.contained)}[{size}]{alias}"
    return f"{type_.text}{alias}"


def default_text(value: object, type_: Type) -> str:
    """A default as it stands behind the `=`."""
    if isinstance(value, str):
        quoted = type_.text.rstrip("?") != "Device"
        return _quoted(value) if quoted else value
    if isinstance(value, list):
        if _is_repeated(value, type_):
            return str(value[0])
        return f"[{', '.join(_constant_text(v) for v in value)}]"
    return _constant_text(value)


def _is_repeated(value: list[object], type_: Type) -> bool:
    # PyTorch prints int[2] x=[1, 1] as x=1 (but not for SymInt, nor for one element)
    if not isinstance(type_, ListType) or type_.element.text != "int" or type_.size is None:
        return False
    return len(value) == type_.size > 1 and all(v == value[0] for v in value)


def _constant_text(value: object) -> str:
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        imaginary = _float_text(value.imag)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{_float_text(value.real)}{sign}{imaginary}j"
    return _quoted(value) if isinstance(value, str) else str(value)


def _float_text(value: float) -> str:
    if value == value and abs(value) < 2.0**63 and value == int(value):
        return f"{value:.0f}."
    return f"{value:.17g}"


_ESCAPES = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def _quoted(value: str) -> str:
    parts = [
        _ESCAPES.get(c) or (c if c.isprintable() else f"\\{ord(c):03o}" if ord(c) < 512 else c)
        for c in value
    ]
    return f'"{"".join(parts)}"'
