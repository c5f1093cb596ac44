# cython: annotation_typing=False, auto_pickle=False
"""Schemas as data, and their text: what `parser` makes and everything else reads.

`str()` gives the text that a schema was parsed from; what PyTorch prints for the same schema is
printed here to the letter, floats and repeated list elements included, so that texts can be
compared. Nothing is changed after it is made. The module compiles as it stands (`schema.pxd` has
the C types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .types import ListType, OptionalType, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["AliasInfo", "Argument", "FunctionSchema"]

# Makes the default of a `Device`: the dispatcher sets its own class, the generator needs none.
new_device: Callable[[str], object] = str


class AliasInfo:
    """An alias annotation: `(a!)` writes set a, `(a -> *)` enters the wildcard set.

    `before` and `after` hold the sets' names in the order written; `contained` is the annotation
    of a list's elements.
    """

    __slots__ = ("after", "before", "contained", "is_write")

    def __init__(
        self,
        is_write: bool,
        before: Iterable[str],
        after: Iterable[str],
        contained: AliasInfo | None = None,
    ) -> None:
        self.before = tuple(name.removeprefix("alias::") for name in before)
        self.after = tuple(name.removeprefix("alias::") for name in after)
        self.is_write = is_write
        self.contained = contained

    @property
    def before_set(self) -> set[str]:
        """The sets that the value is in before the call, as a set."""
        return set(self.before)

    @property
    def after_set(self) -> set[str]:
        """The sets that it is in after the call."""
        return set(self.after)

    def __str__(self) -> str:
        if not self.before:
            return ""
        text = "|".join(self.before) + ("!" if self.is_write else "")
        if self.after != self.before:
            text += " -> " + "|".join(self.after)
        return f"({text})"

    def _key(self) -> tuple[object, ...]:
        return (frozenset(self.before), frozenset(self.after), self.is_write, self.contained)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AliasInfo) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class Argument:
    """One argument or return value of a schema.

    `real_type` is the type as written, `type` the same with `SymInt`, `ScalarType`, ... as `int`.
    `N` is the length that a lone value is repeated to (`int[2]`), else None. A default of
    `ScalarType`, `Layout` or `MemoryFormat` is its number, that of `Device` a device.
    """

    __slots__ = (
        "N",
        "_has_default",
        "_numbers",
        "alias_info",
        "default_value",
        "kwarg_only",
        "name",
        "real_type",
    )

    def __init__(
        self,
        name: str,
        type: Type,
        N: int | None = None,
        default_value: object = None,
        kwarg_only: bool = False,
        alias_info: AliasInfo | None = None,
        has_default: bool | None = None,
    ) -> None:
        if not isinstance(type, Type):
            raise TypeError(f"Argument: type: expected a type, got {type!r}")
        self.name = name
        self.real_type = type
        self.alias_info = alias_info
        self.kwarg_only = kwarg_only
        self._has_default = default_value is not None if has_default is None else has_default
        if isinstance(default_value, str) and type.text == "Device":
            default_value = new_device(default_value)
        self.default_value = default_value
        self.N = _list_size(type) if N is None else N
        self._numbers: object = None  # `encoding.arg_spec` of it, where the dispatcher asked

    @property
    def type(self) -> Type:
        """`real_type` with the types that travel as integers replaced by `int`."""
        return self.real_type.erased()

    @property
    def is_write(self) -> bool:
        """Whether the call writes the argument."""
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        """Whether it is an out argument: written, and given by keyword."""
        return self.kwarg_only and self.is_write

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return self._has_default

    def __str__(self) -> str:
        text = _type_text(self.real_type, self.alias_info)
        if self.name:
            text += " " + self.name
        if self._has_default:
            text += "=" + _default_text(self.default_value, self.real_type)
        return text

    def __repr__(self) -> str:
        return f"<Argument {self}>"

    def _key(self) -> tuple[object, ...]:
        default = _comparable(self.default_value)
        return (
            self.name,
            self.type,
            self.N,
            self.alias_info,
            self.kwarg_only,
            self._has_default,
            default,
        )

    def _fits(self, old: Argument) -> bool:
        """Whether the two agree in all that compatibility asks of both."""
        same = (self.name, self.N, self.alias_info) == (old.name, old.N, old.alias_info)
        if not same or (self.kwarg_only and not old.kwarg_only):
            return False
        mine, theirs = _comparable(self.default_value), _comparable(old.default_value)
        return not old._has_default or (self._has_default and mine == theirs)

    def _widened_from(self, old: Argument) -> bool:
        """Whether what is given for `old` can be given for this argument."""
        return self._fits(old) and old.type.isSubtypeOf(self.type)

    def _understood_as(self, old: Argument) -> bool:
        """Whether what is given for this argument can be given where only `old` is known."""
        if self._has_default and not old._has_default:
            return False
        return self._fits(old) and self.type.isSubtypeOf(old.type)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Argument) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class FunctionSchema:
    """A parsed schema. `name` has its namespace (`aten::add`); compared by value."""

    __slots__ = (
        "_arguments",
        "_returns",
        "_text",
        "is_vararg",
        "is_varret",
        "name",
        "overload_name",
    )

    def __init__(
        self,
        name: str,
        overload_name: str,
        arguments: Iterable[Argument],
        returns: Iterable[Argument],
        is_vararg: bool = False,
        is_varret: bool = False,
    ) -> None:
        self.name = name
        self.overload_name = overload_name
        self._arguments = tuple(arguments)
        self._returns = tuple(returns)
        for arguments in (self._arguments, self._returns):
            for argument in arguments:
                if not isinstance(argument, Argument):
                    raise TypeError(f"FunctionSchema: expected an Argument, got {argument!r}")
        self.is_vararg = is_vararg
        self.is_varret = is_varret
        self._text: str | None = None

    @property
    def arguments(self) -> list[Argument]:
        """The arguments in order."""
        return list(self._arguments)

    @property
    def returns(self) -> list[Argument]:
        """The results in order."""
        return list(self._returns)

    @property
    def namespace(self) -> str:
        """What stands before `::`, or the empty string."""
        return self.name.partition("::")[0] if "::" in self.name else ""

    @property
    def is_mutable(self) -> bool:
        """Whether some argument is written."""
        for argument in self._arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                return True
        return False

    def _is_view_op(self) -> bool:
        """Whether a result aliases an argument that is not written."""
        return not self.is_mutable and any(r.alias_info is not None for r in self.returns)

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Whether every call that fits `old` fits this schema: new arguments have defaults.

        TypeError when `old` is no schema.
        """
        _check_schema(old)
        n_old, n_new = old._first_out(), self._first_out()
        if self._shape() != old._shape() or len(self.arguments) < len(old.arguments):
            return False
        # results may become narrower, arguments wider
        results = all(o._widened_from(n) for o, n in zip(old.returns, self.returns, strict=True))
        added = self.arguments[n_old:n_new]
        outs = zip(self.arguments[n_new:], old.arguments[n_old:], strict=False)
        return (
            results
            and all(a.has_default_value() for a in added)
            and all(n._widened_from(o) for n, o in [*_pairs(self, old, n_old), *outs])
        )

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Whether what is written for this schema runs where only `old` is known, and why not.

        New arguments stand behind all that are not out, with defaults that are no lists. For
        another operator, or another number of results, there is no more to say. TypeError when
        `old` is no schema.
        """
        _check_schema(old)
        n_old, n_new = old._first_out(), self._first_out()
        if self._shape() != old._shape():
            return False, ""
        if len(self.arguments) - n_new != len(old.arguments) - n_old:
            return False, "Function schema should have the same number of out arguments"
        older = "the older version of the schema"
        for mine, other in _pairs(self, old, min(n_old, n_new)):
            if not mine._understood_as(other):
                return False, f"'{mine.name}' is not forward compatible with {older}"
        for argument in self.arguments[n_old:n_new]:
            if not argument.has_default_value():
                what = "did not provide a default value."
            elif isinstance(argument.default_value, list):
                what = "has a container type as its default value."
            else:
                continue
            return False, (
                "Function schema is not forward compatible since the new argument "
                f"'{argument.name}' of type {argument.type.str()} {what}"
            )
        for mine, other in zip(self.arguments[n_new:], old.arguments[n_old:], strict=True):
            if not mine._understood_as(other):
                return False, f"Out argument '{mine.name}' is not FC with {older}"
        return True, ""

    def _first_out(self) -> int:
        """The index of the first out argument, or the number of arguments."""
        for i, argument in enumerate(self.arguments):
            if argument.is_out:
                return i
        return len(self.arguments)

    def _shape(self) -> tuple[object, ...]:
        """What compatible schemas have in common."""
        return (self.name, self.overload_name, len(self.returns), self.is_vararg, self.is_varret)

    def __getstate__(self) -> str:
        return str(self)

    def __copy__(self) -> FunctionSchema:
        return self

    def __deepcopy__(self, memo: object) -> FunctionSchema:
        return self

    def __str__(self) -> str:
        if self._text is None:
            self._text = _schema_text(self)
        return self._text

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        _check_schema(other)
        return self is other or (isinstance(other, FunctionSchema) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (
            self.name,
            self.overload_name,
            self._arguments,
            self._returns,
            self.is_vararg,
            self.is_varret,
        )


def _check_schema(value: object) -> None:
    if not isinstance(value, FunctionSchema):
        raise TypeError(f"a schema is compared with schemas, not with {value!r}")


def _comparable(value: object) -> object:
    # 1, 1.0 and True are different defaults; a list has no hash
    if isinstance(value, list):
        return tuple(_comparable(v) for v in value)
    return (type(value), repr(value))


def _pairs(new: FunctionSchema, old: FunctionSchema, n: int) -> list[tuple[Argument, Argument]]:
    """The first n arguments of both."""
    return list(zip(new.arguments[:n], old.arguments[:n], strict=False))


def _list_size(type_: Type) -> int | None:
    if isinstance(type_, OptionalType):
        type_ = type_.element
    return type_.size if isinstance(type_, ListType) else None


# ---- text


def _schema_text(schema: FunctionSchema) -> str:
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


def _type_text(type_: Type, alias: AliasInfo | None) -> str:
    """A type with its alias annotations in their places."""
    if alias is None:
        return type_.text
    if isinstance(type_, OptionalType):
        return _type_text(type_.element, alias) + "?"
    if isinstance(type_, ListType):
        size = "" if type_.size is None else str(type_.size)
        return f"{_type_text(type_.element, alias.contained)}[{size}]{alias}"
    return f"{type_.text}{alias}"


def _default_text(value: object, type_: Type) -> str:
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
