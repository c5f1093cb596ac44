# cython: annotation_typing=False
"""The schema language: `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.

`parse_schema` turns a text into a `FunctionSchema`, `str()` turns it back into the same text;
nothing is changed in between. The generator reads `native_functions.yaml` with it, and the
dispatcher every schema that a library defines, so it is a scanner by hand, starts without heavy
imports, and compiles as it stands (`schema.pxd` has the C types).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .defaults import LISTED_KINDS, NAMED_CONSTANTS, NO_DEFAULT, fit
from .printer import default_text, schema_text, type_text
from .records import arg_spec, default_spec, op_flags
from .types import (
    BASE_TYPES,
    AwaitType,
    ClassType,
    DictType,
    FutureType,
    HolderType,
    ListType,
    OptionalType,
    RRefType,
    TupleType,
    Type,
    UnionType,
    VarType,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AliasInfo",
    "Argument",
    "FunctionSchema",
    "SchemaError",
    "arg_spec",
    "default_spec",
    "op_flags",
    "parse_schema",
    "parse_text",
    "parse_type",
]


class SchemaError(RuntimeError):
    """A text that is no schema: `expected` should stand at `column` (from 0)."""

    def __init__(self, text: str, column: int, expected: str) -> None:
        self.text = text
        self.column = column
        self.expected = expected
        found = repr(text[column]) if column < len(text) else "the end"
        super().__init__(
            f"schema: expected {expected} at column {column + 1}, found {found}\n"
            f"    {text}\n    {' ' * column}^"
        )


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
    `ScalarType`, `Layout` or `MemoryFormat` is its number.
    """

    __slots__ = (
        "N",
        "_has_default",
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
        self.default_value = default_value
        self.N = _list_size(type) if N is None else N

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
        text = type_text(self.real_type, self.alias_info)
        if self.name:
            text += " " + self.name
        if self._has_default:
            text += "=" + default_text(self.default_value, self.real_type)
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
        for argument in self._arguments + self._returns:
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
        """Whether every call that fits `old` fits this schema: new arguments have defaults."""
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
        another operator, or another number of results, there is no more to say.
        """
        n_old, n_new = old._first_out(), self._first_out()
        if self._shape() != old._shape():
            return False, ""
        if len(self.arguments) - n_new != len(old.arguments) - n_old:
            return False, f"{self.name}: the number of out arguments differs"
        outs = zip(self.arguments[n_new:], old.arguments[n_old:], strict=True)
        for new_argument, old_argument in [*_pairs(self, old, min(n_old, n_new)), *outs]:
            if not new_argument._understood_as(old_argument):
                return False, f"{self.name}: {old_argument.name!r} differs"
        for argument in self.arguments[n_old:n_new]:
            if not argument.has_default_value() or isinstance(argument.default_value, list):
                return False, f"{self.name}: the new argument {argument.name!r} needs a default"
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

    def __reduce__(self) -> tuple[object, ...]:
        return parse_schema, (str(self),)

    def __copy__(self) -> FunctionSchema:
        return self

    def __deepcopy__(self, memo: object) -> FunctionSchema:
        return self

    def __str__(self) -> str:
        if self._text is None:
            self._text = schema_text(self)
        return self._text

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionSchema):
            raise TypeError(f"a schema is compared with schemas, not with {other!r}")
        return self is other or self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.name, self.overload_name, len(self._arguments)))

    def _key(self) -> tuple[object, ...]:
        return (
            self.name,
            self.overload_name,
            self._arguments,
            self._returns,
            self.is_vararg,
            self.is_varret,
        )


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


# ---- parsing

_UNESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HOLDERS: dict[str, type[HolderType]] = {"Future": FutureType, "RRef": RRefType, "Await": AwaitType}
_TYPE_CACHE: dict[str, tuple[Type, AliasInfo | None]] = {}
_TYPE_CACHE_SIZE = 4096


def parse_schema(schema: str | bytes, allow_typevars: bool = True) -> FunctionSchema:
    """The schema that a text spells, with or without a namespace.

    Operators of a library have no type variables: `allow_typevars=False` refuses them.

    Raises:
        RuntimeError: it is no schema; the message shows the place.
        TypeError: neither str nor bytes.
    """
    if isinstance(schema, bytes):
        schema = schema.decode("utf-8", "replace")
    elif not isinstance(schema, str):
        raise TypeError(f"parse_schema: schema: expected a str, got {schema!r}")
    try:
        return parse_text(schema, allow_typevars)
    except SchemaError as error:
        raise RuntimeError(str(error)) from None


def parse_text(text: str, allow_typevars: bool = True) -> FunctionSchema:
    """`parse_schema` for those who know more of the text's origin; raises `SchemaError`."""
    parser = Parser(text)
    parser.allow_typevars = allow_typevars
    schema = parser.schema()
    if parser.skip() != "\0" or parser.pos < len(text):
        raise parser.error("the end of the schema")
    return schema


def parse_type(text: str) -> Type:
    """The type that `text` spells, "SymInt[2]?"; raises `SchemaError`."""
    parser = Parser(text)
    type_, _ = parser.type()
    if parser.skip() != "\0" or parser.pos < len(text):
        raise parser.error("the end of the type")
    return type_


def _is_ident_start(c: str) -> bool:
    return "a" <= c <= "z" or "A" <= c <= "Z" or c == "_"


def _is_ident(c: str) -> bool:
    return "a" <= c <= "z" or "A" <= c <= "Z" or c == "_" or "0" <= c <= "9"


class Parser:
    """A scanner over one text; `pos` is the next character, and a NUL stands behind the last."""

    __slots__ = ("allow_typevars", "pos", "source", "text")

    def __init__(self, text: str) -> None:
        self.source = text
        self.text = text + "\0"
        self.pos = 0
        self.allow_typevars = True

    def error(self, expected: str) -> SchemaError:
        """A `SchemaError` at the present place."""
        return SchemaError(self.source, self.pos, expected)

    def skip(self) -> str:
        """Skip blanks; the next character, which stays."""
        text = self.text
        pos = self.pos
        c = text[pos]
        while c == " " or c == "\n" or c == "\t" or c == "\r":
            pos += 1
            c = text[pos]
        self.pos = pos
        return c

    def take(self, c: str) -> bool:
        """Whether the next character is `c`; then it is taken."""
        if self.skip() != c:
            return False
        self.pos += 1
        return True

    def expect(self, c: str) -> None:
        """Take the character `c`, or raise."""
        if self.skip() != c:
            raise self.error(repr(c))
        self.pos += 1

    def take_word(self, word: str) -> bool:
        """Whether `word` (of punctuation) comes next; then it is taken."""
        self.skip()
        if not self.text.startswith(word, self.pos):
            return False
        self.pos += len(word)
        return True

    def ident(self, expected: str) -> str:
        """Take an identifier, or raise for want of `expected`."""
        c = self.skip()
        if not _is_ident_start(c):
            raise self.error(expected)
        text = self.text
        start = self.pos
        pos = start + 1
        while _is_ident(text[pos]):
            pos += 1
        self.pos = pos
        return text[start:pos]

    # -- the whole

    def schema(self) -> FunctionSchema:
        """Take a schema."""
        name, overload_name = self.operator_name()
        arguments, is_vararg = self.arguments()
        if not self.take_word("->"):
            raise self.error("'->' and the type of the result")
        returns, is_varret = self.returns()
        return FunctionSchema(name, overload_name, arguments, returns, is_vararg, is_varret)

    def operator_name(self) -> tuple[str, str]:
        """Take `namespace::name.overload`."""
        name = self.ident("the name of an operator")
        if self.take_word("::"):
            name = name + "::" + self.ident("the name of an operator")
        if not self.take("."):
            return name, ""
        start = self.pos
        overload_name = self.ident("the name of an overload")
        if overload_name == "default" or overload_name.startswith("__"):
            self.pos = start
            raise self.error(f"an overload name that is legal ({overload_name!r} is not)")
        return name, overload_name

    def arguments(self) -> tuple[tuple[Argument, ...], bool]:
        """Take the argument list with its parentheses."""
        self.expect("(")
        found: list[Argument] = []
        if self.take(")"):
            return (), False
        kwarg_only = False
        seen_default = False
        while True:
            c = self.skip()
            if c == "*":
                self.pos += 1
                kwarg_only = True
            elif c == ".":
                self.vararg(seen_default)
                return tuple(found), True
            else:
                start = self.pos
                argument = self.argument(kwarg_only)
                seen_default = self.check_order(argument, seen_default, start)
                found.append(argument)
            if self.skip() == ")":
                self.pos += 1
                return tuple(found), False
            if not self.take(","):
                raise self.error("',' or ')'")

    def vararg(self, seen_default: bool) -> None:
        """Take `...)`."""
        if seen_default:
            raise self.error("no '...' after arguments with defaults")
        if not self.take_word("..."):
            raise self.error("'...'")
        self.expect(")")

    def check_order(self, argument: Argument, seen_default: bool, start: int) -> bool:
        """Refuse a positional argument without a default behind one that has one."""
        if argument._has_default:
            return True
        # schemas written long ago leave out the default of a list
        is_list = isinstance(argument.real_type, ListType)
        if seen_default and not argument.kwarg_only and not is_list:
            self.pos = start
            raise self.error(
                f"a default for {argument.name!r} (one before it has a default), or '*'"
            )
        return seen_default

    def argument(self, kwarg_only: bool) -> Argument:
        """Take `type name=default`."""
        type_, alias = self.type()
        name = self.ident("the name of an argument")
        if self.skip() != "=":
            return Argument(name, type_, None, None, kwarg_only, alias)
        self.pos += 1
        self.skip()
        start = self.pos
        value = self.default(type_)
        if value is NO_DEFAULT:
            self.pos = start
            raise self.error(f"a default of type {type_.text}")
        return Argument(name, type_, None, value, kwarg_only, alias, True)

    def returns(self) -> tuple[tuple[Argument, ...], bool]:
        """Take what stands behind the arrow."""
        if self.take_word("..."):
            return (), True
        if self.skip() != "(":
            return (self.returned(),), False
        self.pos += 1
        found: list[Argument] = []
        if self.take(")"):
            return (), False
        while True:
            if self.take_word("..."):
                self.expect(")")
                return tuple(found), True
            found.append(self.returned())
            if self.take(")"):
                return tuple(found), False
            if not self.take(","):
                raise self.error("',' or ')'")

    def returned(self) -> Argument:
        """Take one result: a type, maybe with a name."""
        type_, alias = self.type()
        name = self.ident("a name") if _is_ident_start(self.skip()) else ""
        return Argument(name, type_, None, None, False, alias)

    # -- types

    def type(self) -> tuple[Type, AliasInfo | None]:
        """Take a type with its alias annotations."""
        self.skip()
        start = self.pos
        end = self.text.find(" ", start)
        if end > 0:
            found = _TYPE_CACHE.get(self.text[start:end])
            if found is not None and _is_ident_start(self.text[end + 1]):
                self.pos = end + 1
                return found
        found = self.parsed_type()
        if self.pos == end and self.text[start] != "t":  # type variables are not for everyone
            if len(_TYPE_CACHE) >= _TYPE_CACHE_SIZE:
                _TYPE_CACHE.clear()
            _TYPE_CACHE[self.text[start:end]] = found
        return found

    def parsed_type(self) -> tuple[Type, AliasInfo | None]:
        """Take a type, letter by letter."""
        type_ = self.base_type()
        alias = self.alias()
        while True:
            c = self.skip()
            if c == "?":
                self.pos += 1
                type_ = OptionalType(type_)
            elif c == "[":
                self.pos += 1
                type_ = ListType(type_, self.list_size())
                alias = _list_alias(self.alias(), alias)
            else:
                return type_, alias

    def list_size(self) -> int | None:
        """Take `N]` or `]`."""
        if self.take("]"):
            return None
        start = self.pos
        while "0" <= self.text[self.pos] <= "9":
            self.pos += 1
        if self.pos == start:
            raise self.error("']' or a number")
        size = int(self.text[start : self.pos])
        self.expect("]")
        return size

    def base_type(self) -> Type:
        """Take a type without suffixes."""
        if self.skip() == "(":
            return TupleType(self.types_in_parentheses())
        start = self.pos
        name = self.ident("a type")
        if name == "Dict":
            elements = self.types_in_parentheses()
            if len(elements) == 2:
                return DictType(elements[0], elements[1])
        elif name == "Union":
            return UnionType(self.types_in_parentheses())
        elif name in _HOLDERS:
            elements = self.types_in_parentheses()
            if len(elements) == 1:
                return _HOLDERS[name](elements[0])
        elif name == "__torch__":
            while self.text[self.pos] == ".":
                self.pos += 1
                self.ident("a part of a class's name")
            full = self.text[start : self.pos]
            return ClassType(full, full)
        elif name in BASE_TYPES:
            return BASE_TYPES[name]
        elif name[0] == "t" and name != "type" and self.allow_typevars:
            return VarType(name, name)
        self.pos = start
        raise self.error("a type (Tensor, int, SymInt, float, bool, Scalar, str, ScalarType, ...)")

    def types_in_parentheses(self) -> tuple[Type, ...]:
        """Take `(type, type, ...)`."""
        self.expect("(")
        found: list[Type] = []
        while True:
            type_, _ = self.parsed_type()
            found.append(type_)
            if self.take(")"):
                return tuple(found)
            if not self.take(","):
                raise self.error("',' or ')'")

    def alias(self) -> AliasInfo | None:
        """Take an alias annotation, if one comes next."""
        if self.skip() != "(":
            return None
        self.pos += 1
        before = self.alias_sets()
        is_write = self.take("!")
        after = self.alias_sets() if self.take_word("->") else before
        self.expect(")")
        return AliasInfo(is_write, before, after)

    def alias_sets(self) -> tuple[str, ...]:
        """Take `a|b`."""
        found: list[str] = []
        while True:
            found.append("*" if self.take("*") else self.ident("an alias set ('a' or '*')"))
            if not self.take("|"):
                return tuple(found)

    # -- defaults

    def default(self, type_: Type) -> object:
        """Take a default of `type_`; `NO_DEFAULT` when what comes does not fit."""
        c = self.skip()
        if c == "[":
            return self.list_default(type_)
        if isinstance(type_, OptionalType):
            value = self.constant(type_.element)
            return value if value is None else fit(value, type_.element, True)
        value = self.constant(type_)
        if isinstance(type_, ListType):
            if type_.size is None:
                return NO_DEFAULT
            value = fit(value, type_.element, False)
            return value if value is NO_DEFAULT else [value] * type_.size
        return fit(value, type_, False)

    def list_default(self, type_: Type) -> object:
        """Take `[value, ...]`: numbers only, not for an optional list (parseConstantList)."""
        self.expect("[")
        if not isinstance(type_, ListType) or type_.element.kind() not in LISTED_KINDS:
            return NO_DEFAULT
        values: list[object] = []
        if self.take("]"):
            return values
        while True:
            value = fit(self.constant(type_.element), type_.element, False)
            if value is NO_DEFAULT:
                return value
            values.append(value)
            if self.take("]"):
                return values
            if not self.take(","):
                raise self.error("',' or ']'")

    def constant(self, type_: Type) -> object:
        """Take one constant: a number, a string, True, False, None or a constant's name."""
        c = self.skip()
        if c == '"' or c == "'":
            return self.string(c)
        if _is_ident_start(c):
            return self.word_constant(type_)
        return self.number()

    def word_constant(self, type_: Type) -> object:
        """Take a constant that is a word."""
        start = self.pos
        word = self.ident("a default")
        if word == "None":
            return None
        if word == "True" or word == "False":
            return word == "True"
        if word == "inf" or word == "nan":
            return float(word)
        if type_.text == "Device":
            if self.take(":"):
                self.list_number()
            return self.text[start : self.pos]
        if word in NAMED_CONSTANTS:
            return NAMED_CONSTANTS[word]
        self.pos = start
        raise self.error("a default: a number, a string, True, False, None or a list")

    def list_number(self) -> None:
        """Take digits."""
        if not "0" <= self.text[self.pos] <= "9":
            raise self.error("a number")
        while "0" <= self.text[self.pos] <= "9":
            self.pos += 1

    def number(self) -> object:
        """Take a number: an int, a float, `2j` or `1.+2.j`."""
        start = self.pos
        value = self.real_number()
        if self.text[self.pos] == "j":
            self.pos += 1
            return complex(0.0, float(value))
        c = self.text[self.pos]
        if isinstance(value, float) and (c == "+" or c == "-"):
            imaginary = self.real_number()
            if self.text[self.pos] != "j":
                self.pos = start
                raise self.error("a number")
            self.pos += 1
            return complex(value, float(imaginary))
        return value

    def real_number(self) -> int | float:
        """Take a number with its sign."""
        text = self.text
        start = pos = self.pos
        while text[pos] == "-" or text[pos] == "+" or text[pos] == " ":
            pos += 1
        digits = pos
        while "0" <= text[pos] <= "9":
            pos += 1
        whole = text[pos] != "." and text[pos] != "e" and text[pos] != "E"
        if not whole:
            pos = self.fraction_end(pos)
        self.pos = pos
        spelled = text[start:pos].replace(" ", "")
        if digits == pos and text.startswith("inf", pos):
            self.pos = pos + 3
            return float(spelled + "inf")
        try:
            return int(spelled) if whole else float(spelled)
        except ValueError:
            self.pos = start
            raise self.error("a default: a number, a string, True, False, None or a list") from None

    def fraction_end(self, pos: int) -> int:
        """The place behind the fraction and exponent that start at `pos`."""
        text = self.text
        if text[pos] == ".":
            pos += 1
            while "0" <= text[pos] <= "9":
                pos += 1
        if text[pos] == "e" or text[pos] == "E":
            pos += 1
            if text[pos] == "-" or text[pos] == "+":
                pos += 1
            while "0" <= text[pos] <= "9":
                pos += 1
        return pos

    def string(self, quote: str) -> str:
        """Take a string literal."""
        self.pos += 1
        parts: list[str] = []
        while True:
            c = self.text[self.pos]
            if c == quote:
                self.pos += 1
                return "".join(parts)
            if c == "\0" and self.pos == len(self.source):
                raise self.error(f"a closing {quote}")
            self.pos += 1
            parts.append(self.escaped() if c == "\\" else c)

    def escaped(self) -> str:
        """Take what stands behind a backslash."""
        text = self.text
        pos = self.pos
        c = text[pos]
        if "0" <= c <= "7":
            end = pos + 1
            while end < pos + 3 and "0" <= text[end] <= "7":
                end += 1
            self.pos = end
            return chr(int(text[pos:end], 8))
        if c == "\0" and pos == len(self.source):
            raise self.error("a character behind the backslash")
        self.pos = pos + 1
        return _UNESCAPES.get(c, c)


def _list_alias(own: AliasInfo | None, element: AliasInfo | None) -> AliasInfo | None:
    if element is None:
        return own
    if own is None:
        return AliasInfo(element.is_write, (), (), element)
    return AliasInfo(own.is_write, own.before, own.after, element)
