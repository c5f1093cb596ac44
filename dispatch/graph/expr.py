"""Sizes that were symbols when the program was exported: their recorded values, and their values
under given symbols.

Running needs no algebra: `sym_size` nodes give concrete sizes. Expressions matter only for the
inputs, whose sizes bind the symbols; `evaluate` reads the few sympy forms that occur there
(`Mul(Integer(2), Symbol('s0', ...))`). An expression is a number, a symbol, or a named function of
expressions; text stands only in `Symbol('s0')` and `Float('0.5')`. A stranger wrote it, so its
length, its depth and every number on the way are bounded.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import dispatch
from dispatch.graph.arithmetic import Number, bounded, power, symbolic_power
from dispatch.graph.program import SymBool, SymExpr, SymFloat, SymInt

__all__ = ["evaluate", "hint_of", "symbol_of", "symbolic_value", "symbols_in"]

_MAX_TEXT = 4096
_MAX_DEPTH = 64
_TOKEN = re.compile(
    r"""\s*(?: (?P<name>[A-Za-z_]\w*) | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)
        | '(?P<text>[^'\\]*)' | (?P<mark>[(),=-]) )""",
    re.VERBOSE | re.ASCII,
)


class _Symbol(NamedTuple):
    name: str


class _Call(NamedTuple):
    function: str
    args: "tuple[_Tree, ...]"


_Tree = Number | _Symbol | _Call


def hint_of(value: SymInt | SymFloat | SymBool) -> Number | None:
    """The traced value; None for a symbol that depends on data."""
    if value.tag != "as_expr":
        number: Number = value.value
        return number
    expr: SymExpr = value.value
    return expr.hint.value if expr.hint is not None else None


def symbol_of(value: SymInt) -> str | None:
    """The symbol's name when the value is one symbol alone."""
    if value.tag != "as_expr":
        return None
    tree = _parse(value.value.expr_str)
    return tree.name if isinstance(tree, _Symbol) else None


def symbols_in(value: SymInt) -> tuple[str, ...]:
    """The names of the symbols in the value, each once; none when its form is not known."""
    tree = _parse(value.value.expr_str) if value.tag == "as_expr" else None
    return tuple(dict.fromkeys(_symbols(tree)))


def evaluate(value: SymInt, symbols: Mapping[str, int]) -> int | None:
    """The value under `symbols`; None when a symbol is unbound, the form is not known, or a number
    on the way does not fit 64 bits."""
    if value.tag != "as_expr":
        size: int = value.value
        return size
    tree = _parse(value.value.expr_str)
    try:
        result = _evaluate(tree, symbols) if tree is not None else None
        return int(result) if result is not None and result == int(result) else None
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None


def symbolic_value(value: SymInt, symbols: Mapping[str, Any]) -> Any:
    """The value with symbolic numbers (or plain ones) in the symbols' places; `LookupError` when
    one is missing, the form is not known, or it has no value for any numbers."""
    if value.tag != "as_expr":
        return value.value
    tree = _parse(value.value.expr_str)
    if tree is None:
        raise LookupError(f"an expression that is not known here: {value.value.expr_str[:80]}")
    try:
        return _substituted(tree, symbols)
    except KeyError as error:
        raise LookupError(f"no size of the inputs is {error}") from None
    except (ArithmeticError, TypeError, ValueError) as error:
        raise LookupError(f"{value.value.expr_str[:80]} has no value: {error}") from None


def _substituted(tree: _Tree, symbols: Mapping[str, Any]) -> Any:
    if isinstance(tree, _Symbol):
        return symbols[tree.name]
    if not isinstance(tree, _Call):
        return tree
    function = _SYMBOLIC.get(tree.function) or _FUNCTIONS[tree.function]
    return function(*(_substituted(arg, symbols) for arg in tree.args))


# -- reading ------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _parse(text: str) -> _Tree | None:
    try:
        return _Parser(text).whole() if len(text) <= _MAX_TEXT else None
    except (ArithmeticError, StopIteration, ValueError):
        return None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of each token, then ("end", "")."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(f"no expression from {at} on")
        yield match.lastgroup, match[match.lastgroup]
        at = match.end()
    yield "end", ""


class _Parser:
    """Recursive descent with one token of look-ahead; `ValueError` for what is no expression."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.kind, self.text = next(self.tokens)
        self.depth = 0

    def advance(self) -> str:
        """The current token's text; the next becomes current."""
        text = self.text
        self.kind, self.text = next(self.tokens)
        return text

    def take(self, kind: str, text: str | None = None) -> str | None:
        """Go past the current token if it is such a one, and give its text."""
        return self.advance() if self.kind == kind and text in (None, self.text) else None

    def whole(self) -> _Tree:
        tree = self.expression()
        if self.kind != "end":
            raise ValueError("something after the expression")
        return tree

    def expression(self) -> _Tree:
        name = self.take("name")
        return self.number() if name is None else self.call(name)

    def number(self) -> Number:
        sign = -1 if self.take("mark", "-") else 1
        text = self.take("number")
        if text is None:
            raise ValueError("expected a number")
        return bounded(sign * (int(text) if text.isdigit() else float(text)), "size")

    def call(self, name: str) -> _Tree:
        self.depth += 1
        if self.depth > _MAX_DEPTH or not self.take("mark", "("):
            raise ValueError("expected (, not too deep")
        text = self.take("text") if name in ("Symbol", "Float") else None
        args = self.arguments(text is not None)
        self.depth -= 1
        if name == "Symbol" and text is not None:
            return _Symbol(text)
        return bounded(float(text), "size") if text is not None else _Call(name, args)

    def arguments(self, after_text: bool) -> tuple[_Tree, ...]:
        """Up to the closing parenthesis; what is named (`integer=True`) says nothing here."""
        args: list[_Tree] = []
        if self.take("mark", ")"):
            return ()
        if after_text and not self.take("mark", ","):
            raise ValueError("expected , or )")
        while True:
            name = self.take("name")
            if name is None:
                args.append(self.number())
            elif self.take("mark", "="):
                self.take("name") or self.number()
            else:
                args.append(self.call(name))
            if self.take("mark", ")"):
                return tuple(args)
            if not self.take("mark", ","):
                raise ValueError("expected , or )")


# -- computing ----------------------------------------------------------------------------------

_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "Add": lambda *terms: sum(terms),
    "CeilToInt": math.ceil,
    "CleanDiv": lambda a, b: a // b,
    "FloorDiv": lambda a, b: a // b,
    "FloorToInt": math.floor,
    "Float": float,
    "Integer": int,
    "Max": lambda *values: max(values),
    "Min": lambda *values: min(values),
    "Mod": lambda a, b: a % b,
    "Mul": lambda *factors: math.prod(factors),
    "Pow": power,
    "PowByNatural": power,
    "PythonMod": lambda a, b: a % b,
    "Rational": lambda a, b: a / b,
    "ToFloat": float,
}

_SYMBOLIC: dict[str, Callable[..., Any]] = {
    "Max": lambda *values: reduce(dispatch.sym_max, values),
    "Min": lambda *values: reduce(dispatch.sym_min, values),
    "Pow": symbolic_power,
    "PowByNatural": symbolic_power,
    "ToFloat": lambda value: dispatch.sym_float(value),
}


def _symbols(tree: _Tree | None) -> Iterator[str]:
    if isinstance(tree, _Symbol):
        yield tree.name
    elif isinstance(tree, _Call):
        for arg in tree.args:
            yield from _symbols(arg)


def _evaluate(tree: _Tree, symbols: Mapping[str, int]) -> Number:
    """`LookupError` for what is not known; arguments are evaluated first."""
    if isinstance(tree, _Symbol):
        return symbols[tree.name]
    if not isinstance(tree, _Call):
        return tree
    function = _FUNCTIONS[tree.function]
    return bounded(function(*(_evaluate(arg, symbols) for arg in tree.args)), tree.function)
