"""Expressions as sympy's, and back: for what the core does not do, such as solving.

Comes in through `expr.hook`; sympy is imported when it is first asked for. Functions that sympy
does not have become functions of PyTorch's names (`sympy_class`), which numbers work out, so that
both ways end where they began.
"""

import functools
import importlib
import math
from typing import Any

from dispatch.symbolic.expr import Expr, Table, build, hook, leaf

__all__ = ["canonicalize_bool_expr", "from_sympy", "sympy_class", "to_sympy"]

_OWN = {
    "Add",
    "Mul",
    "Pow",
    "Eq",
    "Ne",
    "Lt",
    "Le",
    "Gt",
    "Ge",
    "And",
    "Or",
    "Not",
    "Min",
    "Max",
} | {"Abs", "floor", "ceiling"}
_FLOATS = frozenset(
    ("ToFloat", "IntTrueDiv", "FloatTrueDiv", "FloatPow", "RoundDecimal", "TruncToFloat")
)
_numbers = Table()  # where functions of plain numbers are worked out
_NAMES = {
    "Equality": "Eq",
    "Unequality": "Ne",
    "StrictLessThan": "Lt",
    "LessThan": "Le",
    "StrictGreaterThan": "Gt",
    "GreaterThan": "Ge",
}


def _sympy() -> Any:
    try:
        return importlib.import_module("sympy")
    except ModuleNotFoundError:
        message = "expressions become sympy's with sympy: pip install 'tensor-dispatch[symbolic]'"
        raise ImportError(message) from None


@functools.cache
def sympy_class(name: str) -> Any:
    """The sympy function of this name: real, whole if it is, and worked out on numbers."""
    sympy = _sympy()

    def evaluate(cls: Any, *args: Any) -> Any:
        if all(isinstance(a, (sympy.Integer, sympy.Float)) for a in args):
            numbers = [int(a) if a.is_Integer else float(a) for a in args]
            try:
                return sympy.sympify(build(_numbers, name, numbers).value)
            except OverflowError:  # sympy's own keeps what no float holds
                return getattr(sympy, name.removeprefix("OpaqueUnaryFn_"), lambda *_: None)(*args)
        if name == "FloorDiv" and args[0] == args[1]:
            return sympy.Integer(1)
        return args[0] if name == "FloorDiv" and args[1] == 1 else None

    whole = {} if name in _FLOATS or name.startswith("OpaqueUnaryFn_") else {"is_integer": True}
    own = {
        "is_real": True,
        "eval": classmethod(evaluate),
        "__module__": sympy.Function.__module__,
        "__reduce_ex__": lambda self, protocol: (_called, (name, self.args)),
    }
    return type(name, (sympy.Function,), {**whole, **own})


def _called(name: str, args: Any) -> Any:
    """What a pickle of a call of `sympy_class(name)` says."""
    return sympy_class(name)(*args)


def to_sympy(e: Expr) -> Any:
    """The expression in sympy's classes."""
    sympy = _sympy()
    if e.function == "Symbol":
        return sympy.Symbol(e.name, integer=e.is_integer or None, positive=e.is_positive or None)
    if e.function == "Number":
        return sympy.sympify(e.value)
    args = [to_sympy(a) for a in e.args]
    if e.function == "Piecewise":
        return sympy.Piecewise((args[0], args[1]), (args[2], True))
    function = getattr(sympy, e.function) if e.function in _OWN else sympy_class(e.function)
    return function(*args)


def from_sympy(table: Any, e: Any) -> Any:
    """A sympy expression in a table."""
    sympy = _sympy()
    if isinstance(e, sympy.Symbol):
        return leaf(table, e.name)
    if isinstance(e, sympy.logic.boolalg.BooleanAtom):
        return leaf(table, bool(e))
    if isinstance(e, sympy.Integer):
        return leaf(table, int(e))
    if isinstance(e, sympy.Float):
        return leaf(table, float(e))
    if not isinstance(e, sympy.Basic):
        raise TypeError(f"no expression: {e!r}")
    name = type(e).__name__
    if name == "Piecewise":
        (value, condition), (otherwise, _) = e.args
        return build(table, name, [from_sympy(table, x) for x in (value, condition, otherwise)])
    return build(table, _NAMES.get(name, name), [from_sympy(table, x) for x in e.args])


def canonicalize_bool_expr(expr: Any) -> Any:
    """One form of a sympy condition: `<` and `<=` only, no common factor, all signs positive."""
    sympy = _sympy()
    if isinstance(expr, (sympy.And, sympy.Or, sympy.Not)):
        expr = sympy.to_cnf(expr)
    if isinstance(expr, (sympy.And, sympy.Or)):
        return expr.func(*map(canonicalize_bool_expr, expr.args))
    if not isinstance(expr, sympy.Rel):
        return expr
    turned = {sympy.Gt: sympy.Lt, sympy.Ge: sympy.Le}.get(type(expr))
    difference = expr.lhs - expr.rhs if turned else expr.rhs - expr.lhs
    terms = [term.as_coeff_Mul() for term in sympy.Add.make_args(difference)]
    factor = math.gcd(*(int(n) if n.is_Integer else 1 for n, _ in terms)) or 1
    left = [-n / factor * rest for n, rest in terms if n.is_negative]
    right = [n / factor * rest for n, rest in terms if not n.is_negative]
    return (turned or expr.func)(sympy.Add(*left), sympy.Add(*right), evaluate=False)


def taken_in(table: Any, o: Any) -> Any:
    """Anything that stands for an expression: a symbolic number, a sympy object, a numpy number."""
    if hasattr(o, "node"):
        return o.node.expr
    if hasattr(o, "is_Symbol"):
        return from_sympy(table, o)
    if hasattr(o, "__index__"):
        return leaf(table, int(o))
    raise TypeError(f"no expression: {o!r}")


hook("sympy", to_sympy)
hook("foreign", taken_in)
