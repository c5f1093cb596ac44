# cython: annotation_typing=False, auto_pickle=False
"""The schema language: `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.

`parse_schema` turns a text into a `FunctionSchema`, whose `str()` is the same text again. The
generator reads `native_functions.yaml` with it, and the dispatcher every schema that a library
defines, so it is a scanner by hand, starts without heavy imports, and compiles as it stands
(`parser.pxd` has the C types).
"""

from __future__ import annotations

import copyreg
from sys import intern
from typing import TYPE_CHECKING, Any

from .defaults import LISTED_KINDS, NAMED_CONSTANTS, NO_DEFAULT, fit, fit_element
from .schema import AliasInfo, Argument, FunctionSchema
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
    from collections.abc import Callable

__all__ = [
    "SchemaError",
    "is_opaque_type_registered",
    "parse_schema",
    "parse_text",
    "parse_type",
    "register_opaque_type",
    "unregister_opaque_type",
]

_UNESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# What C++ calls types that schemas have under another name.
_OTHER_NAMES = {"int64_t": ". Use `SymInt` or `int`", "double": ". Use `float`"}
_HOLDERS: dict[str, type[HolderType]] = {"Future": FutureType, "RRef": RRefType, "Await": AwaitType}
_TYPE_CACHE: dict[str, tuple[Type, AliasInfo | None]] = {}
_CACHE_SIZE = 4096
# Arguments and results recur, and nobody changes them: what was read from a text is there for the
# next one. Texts with type variables, which are not for everyone, are not kept.
_POSITIONAL: dict[str, Argument] = {}
_KEYWORD_ONLY: dict[str, Argument] = {}
_RESULTS: dict[str, tuple[tuple[Argument, ...], bool]] = {}
_SIGNATURES: dict[str, tuple[tuple[Argument, ...], tuple[Argument, ...], bool, bool]] = {}
_PLAIN_DEFAULTS = frozenset({bool, float, int, type(None)})  # that may be shared
_OPAQUE: set[str] = set()  # full names of classes whose objects travel as they are
_DEEPEST_TYPE = 32
_MOST_ARGUMENTS = 1024
_INT64 = 1 << 63
_LARGEST_SIZE = 65536  # of T[N], whose default may be N copies of a number
_LONGEST_SIZE = 9  # digits


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


def register_opaque_type(type_name: str) -> None:
    """Make the full name of a class a type, whose values are taken as they are."""
    _OPAQUE.add(type_name)
    _forget()


def unregister_opaque_type(type_name: str) -> None:
    """Take it back; a name that is none is no mistake."""
    _OPAQUE.discard(type_name)
    _forget()


def _forget() -> None:
    for cache in (_TYPE_CACHE, _POSITIONAL, _KEYWORD_ONLY, _RESULTS, _SIGNATURES):
        cache.clear()


def is_opaque_type_registered(type_name: str) -> bool:
    """Whether the name is such a type."""
    return type_name in _OPAQUE


def parse_schema(
    schema: str | bytes, allow_typevars: bool = True, prefix: str = ""
) -> FunctionSchema:
    """The schema that a text spells, with or without a namespace.

    Operators of a library have no type variables: `allow_typevars=False` refuses them. A name
    without a namespace gets `prefix`, such as "aten::".

    Raises:
        RuntimeError: it is no schema; the message shows the place.
        TypeError: neither str nor bytes.
    """
    if isinstance(schema, bytes):
        schema = schema.decode("utf-8", "replace")
    elif not isinstance(schema, str):
        raise TypeError(f"parse_schema: schema: expected a str, got {schema!r}")
    try:
        return parse_text(schema, allow_typevars, prefix)
    except SchemaError as error:
        raise RuntimeError(str(error)) from None


def parse_text(text: str, allow_typevars: bool = True, prefix: str = "") -> FunctionSchema:
    """`parse_schema` for those who know more of the text's origin; raises `SchemaError`."""
    parser = Parser(text)
    parser.prefix = prefix
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


def _is_plain(c: str) -> bool:
    return _is_ident(c) or c in " ?=.-+[]" or c == "\n" or c == "\t" or c == "\r"


class Parser:
    """A scanner over one text; `pos` is the next character, and a NUL stands behind the last."""

    __slots__ = ("allow_typevars", "depth", "pos", "prefix", "source", "text")

    def __init__(self, text: str) -> None:
        self.source = text
        self.text = text + "\0"
        self.pos = 0
        self.prefix = ""  # of operators whose name says no namespace
        self.depth = 0  # levels of types around the present place
        self.allow_typevars = True

    def error(self, expected: str) -> SchemaError:
        """A `SchemaError` at the present place."""
        return SchemaError(self.source, self.pos, expected)

    def skip(self) -> str:
        """Skip blanks and comments (`# ...`); the next character, which stays."""
        text = self.text
        pos = self.pos
        c = text[pos]
        while c == " " or c == "\n" or c == "\t" or c == "\r" or c == "#":
            pos = self.comment_end(pos) if c == "#" else pos + 1
            c = text[pos]
        self.pos = pos
        return c

    def comment_end(self, pos: int) -> int:
        """Where the line of `pos` ends, or the text."""
        end = self.source.find("\n", pos)
        return len(self.source) if end < 0 else end

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
        spelled = self.text[self.pos :]
        found = _SIGNATURES.get(spelled)
        if found is not None:
            self.pos = len(self.source)
        else:
            found = self.signature()
            ended = self.skip() == "\0" and self.pos == len(self.source)
            if ended and not self.allow_typevars and _may_be_shared(found[0]):
                _keep(_SIGNATURES, spelled, found)
        arguments, returns, is_vararg, is_varret = found
        return FunctionSchema(name, overload_name, arguments, returns, is_vararg, is_varret)

    def signature(self) -> tuple[tuple[Argument, ...], tuple[Argument, ...], bool, bool]:
        """Take arguments and results: all that stands behind the name."""
        arguments, is_vararg = self.arguments()
        if not self.take_word("->"):
            raise self.error("'->' and the type of the result")
        returns, is_varret = self.returns()
        return arguments, returns, is_vararg, is_varret

    def operator_name(self) -> tuple[str, str]:
        """Take `namespace::name.overload`."""
        name = self.ident("the name of an operator")
        if self.take_word("::"):
            name = name + "::" + self.ident("the name of an operator")
        elif self.prefix:
            name = self.prefix + name
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
                if len(found) == _MOST_ARGUMENTS:
                    raise self.error(f"no more than {_MOST_ARGUMENTS} arguments")
                found.append(argument)
            if self.skip() == ")":
                self.pos += 1
                return tuple(found), False
            if not self.take(","):
                raise self.error("',' or ')'")

    def vararg(self, seen_default: bool) -> None:
        """Take `...)`."""
        if seen_default:
            raise self.error("')': schemas with vararg (...) can't have default value args")
        if not self.take_word("..."):
            raise self.error("'...'")
        self.expect(")")

    def check_order(self, argument: Argument, seen_default: bool, start: int) -> bool:
        """Refuse a positional argument without a default behind one that has one."""
        if argument._has_default:
            return True
        if not seen_default or argument.kwarg_only:
            return seen_default
        # schemas written long ago leave out the default of a list
        if not isinstance(argument.real_type, ListType):
            self.pos = start
            raise self.error(
                f"a default for {argument.name!r} (one before it has a default), or '*'"
            )
        return seen_default

    def argument(self, kwarg_only: bool) -> Argument:
        """Take `type name=default`."""
        self.skip()
        start = self.pos
        end = self.plain_end()
        cache = _KEYWORD_ONLY if kwarg_only else _POSITIONAL
        spelled = self.text[start:end]
        found = cache.get(spelled)
        if found is not None:
            self.pos = end
            return found
        found = self.parsed_argument(kwarg_only)
        if self.pos == end and not self.allow_typevars and _may_be_shared((found,)):
            _keep(cache, spelled, found)
        return found

    def plain_end(self) -> int:
        """Where an argument of words and numbers alone would end."""
        text = self.text
        pos = self.pos
        while _is_plain(text[pos]):
            pos += 1
        return pos

    def parsed_argument(self, kwarg_only: bool) -> Argument:
        """Take an argument, letter by letter."""
        type_, alias = self.type()
        name = intern(self.ident("the name of an argument"))
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
        """Take what stands behind the arrow, to the end of the text."""
        self.skip()
        start = self.pos
        spelled = self.text[start:]
        found = _RESULTS.get(spelled)
        if found is not None:
            self.pos = len(self.source)
            return found
        found = self.parsed_returns()
        if self.pos == len(self.source) and not self.allow_typevars:
            _keep(_RESULTS, spelled, found)
        return found

    def parsed_returns(self) -> tuple[tuple[Argument, ...], bool]:
        """Take results, letter by letter."""
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
        last = end < 0  # what the text ends with
        if last:
            end = len(self.source)
        spelled = self.text[start:end]
        found = _TYPE_CACHE.get(spelled)
        if found is not None and (last or _is_ident_start(self.text[end + 1])):
            self.pos = end if last else end + 1
            return found
        found = self.parsed_type()
        if self.pos == end and self.text[start] != "t":  # type variables are not for everyone
            _keep(_TYPE_CACHE, spelled, found)
        return found

    def parsed_type(self) -> tuple[Type, AliasInfo | None]:
        """Take a type, letter by letter."""
        type_ = self.base_type()
        alias = self.alias()
        depth = self.depth
        while True:
            c = self.skip()
            if c == "?" or c == "[":
                self.deeper()
            else:
                self.depth = depth
                return type_, alias
            if c == "?":
                self.pos += 1
                if not isinstance(type_, OptionalType):  # `T??` is `T?`
                    type_ = OptionalType(type_)
            else:
                self.pos += 1
                type_ = ListType(type_, self.list_size())
                alias = _list_alias(self.alias(), alias)

    def deeper(self) -> int:
        """One level of nested types more: whoever prints or compares a type goes that deep."""
        self.depth += 1
        if self.depth > _DEEPEST_TYPE:
            raise self.error(f"no more than {_DEEPEST_TYPE} levels of types")
        return 0

    def list_size(self) -> int | None:
        """Take `N]` or `]`."""
        if self.take("]"):
            return None
        start = self.pos
        while "0" <= self.text[self.pos] <= "9":
            self.pos += 1
        if self.pos == start:
            raise self.error("']' or a number")
        digits = self.text[start : self.pos]
        if len(digits) > _LONGEST_SIZE or int(digits) > _LARGEST_SIZE:
            self.pos = start
            raise self.error(f"a list of at most {_LARGEST_SIZE}")
        self.expect("]")
        return int(digits)

    def base_type(self) -> Type:
        """Take a type without suffixes."""
        if self.skip() == "(":
            return TupleType(self.types_in_parentheses())
        start = self.pos
        name = self.ident("a type")
        if self.text[self.pos] == "." and _OPAQUE:
            while self.text[self.pos] == ".":
                self.pos += 1
                self.ident("a part of a class's name: this is an unknown type specifier")
            if self.text[start : self.pos] in _OPAQUE:
                return BASE_TYPES["PyObject"]
            self.pos = start + len(name)
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
        elif name in BASE_TYPES and name != "PyObject":  # its classes have names of their own
            return BASE_TYPES[name]
        elif name[0] == "t" and name != "type" and self.allow_typevars:
            return VarType(name, name)
        self.pos = start
        hint = _OTHER_NAMES.get(name, "")
        raise self.error(
            "a type (Tensor, int, SymInt, float, bool, Scalar, str, ScalarType, ...; this is an "
            f"unknown type specifier{hint})"
        )

    def types_in_parentheses(self) -> tuple[Type, ...]:
        """Take `(type, type, ...)`."""
        self.expect("(")
        self.deeper()
        found: list[Type] = []
        while True:
            type_, _ = self.parsed_type()
            found.append(type_)
            if self.take(")"):
                self.depth -= 1
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
            value = fit_element(value, type_.element)
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
            value = fit_element(self.constant(type_.element), type_.element)
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
            value: int | float = int(spelled) if whole else float(spelled)
        except ValueError:
            self.pos = start
            raise self.error("a default: a number, a string, True, False, None or a list") from None
        if whole and not -_INT64 <= value < _INT64:
            self.pos = start
            raise self.error("an int of 64 bits")
        return value

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


def _may_be_shared(arguments: tuple[Argument, ...]) -> bool:
    return all(type(a.default_value) in _PLAIN_DEFAULTS for a in arguments)


def _keep(cache: dict[str, Any], text: str, value: object) -> int:
    if len(cache) >= _CACHE_SIZE:
        cache.clear()
    cache[text] = value
    return 0


def _list_alias(own: AliasInfo | None, element: AliasInfo | None) -> AliasInfo | None:
    if element is None:
        return own
    if own is None:
        return AliasInfo(element.is_write, (), (), element)
    return AliasInfo(own.is_write, own.before, own.after, element)


def _pickled(schema: FunctionSchema) -> tuple[Callable[[str], FunctionSchema], tuple[str]]:
    return parse_schema, (str(schema),)


copyreg.pickle(FunctionSchema, _pickled)  # as its text: reading it back takes the parser
