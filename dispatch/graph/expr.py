"""Sizes that were symbols when the program was exported: their recorded values, and their values
under given symbols.

Running needs no algebra: `sym_size` nodes give concrete sizes. Expressions matter only for the
inputs, whose sizes bind the symbols; `evaluate` reads the few sympy forms that occur there
(`Mul(Integer(2), Symbol('s0', ...))`), never by `eval`.
"""

import ast
import math
from collections.abc import Callable, Mapping
from functools import lru_cache

from dispatch.graph.program import SymBool, SymExpr, SymFloat, SymInt

__all__ = ["evaluate", "hint_of", "symbol_of"]

Number = int | float | bool
_MAX_TEXT = 4096
_MAX_INT = 1 << 63


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
    return _symbol_name(tree) if tree is not None and _is_call(tree, "Symbol") else None


def evaluate(value: SymInt, symbols: Mapping[str, int]) -> int | None:
    """The value under `symbols`; None when a symbol is unbound or the form is not known."""
    if value.tag != "as_expr":
        size: int = value.value
        return size
    tree = _parse(value.value.expr_str)
    try:
        result = _evaluate(tree, symbols) if tree is not None else None
        return int(result) if result is not None and result == int(result) else None
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=64)
def _parse(text: str) -> ast.expr | None:
    if len(text) > _MAX_TEXT:
        return None
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_call(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == name


def _symbol_name(tree: ast.expr) -> str | None:
    first = tree.args[0] if isinstance(tree, ast.Call) and tree.args else None
    value = first.value if isinstance(first, ast.Constant) else None
    return value if isinstance(value, str) else None


def _product(*factors: Number) -> Number:
    result = math.prod(factors)
    if abs(result) > _MAX_INT:
        raise OverflowError
    return result


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > 64 or abs(base) > _MAX_INT:
        raise OverflowError
    return base**exponent


_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "Add": lambda *terms: sum(terms),
    "CeilToInt": math.ceil,
    "CleanDiv": lambda a, b: a // b,
    "FloorDiv": lambda a, b: a // b,
    "FloorToInt": math.floor,
    "Float": lambda value, *precision: float(value),
    "Integer": int,
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "Mul": _product,
    "Pow": _power,
    "PowByNatural": _power,
    "PythonMod": lambda a, b: a % b,
    "Rational": lambda a, b: a / b,
    "ToFloat": float,
}


def _evaluate(tree: ast.expr, symbols: Mapping[str, int]) -> Number:
    """`LookupError` for what is not known; arguments are evaluated first."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float | str):
        return tree.value  # type: ignore[return-value]  # Float('0.5', ...) holds text
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_evaluate(tree.operand, symbols)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise LookupError
    if tree.func.id == "Symbol":
        return symbols[_symbol_name(tree) or ""]
    return _FUNCTIONS[tree.func.id](*(_evaluate(a, symbols) for a in tree.args))
