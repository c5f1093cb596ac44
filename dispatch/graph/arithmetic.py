"""Arithmetic on sizes: the targets of nodes that are no operators (`_operator.mul`,
`torch.sym_float`, ...).

A run calls these with plain Python numbers, a symbolic run with symbolic ones too. A stranger's
file chooses the operands, so they must be numbers and the result must be a number that fits 64
bits; a power, a shift or a rounding cannot run away before that is known. `expr` bounds what it
computes in the same way.
"""

import math
import operator
from collections.abc import Callable
from functools import wraps
from typing import Any

import dispatch

__all__ = ["NUMBER_OPERATORS", "Number", "bounded", "power", "symbolic_power"]

Number = int | float | bool


def bounded(value: Number, name: str) -> Number:
    """`value`, if it is a number that fits 64 bits; the error says that `name` gave it."""
    if not isinstance(value, int | float):
        raise ArithmeticError(f"{name}: the result is no real number")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError(f"{name}: the result does not fit 64 bits")
    return value


def _checked(function: Callable[..., Number], name: str) -> Callable[..., Number]:
    @wraps(function, assigned=("__name__",))
    def call(*args: Any) -> Any:
        for value in args:
            if not isinstance(value, int | float):
                if isinstance(value, dispatch.SymInt | dispatch.SymFloat | dispatch.SymBool):
                    return _SYMBOLIC.get(name, function)(*args)
                raise TypeError(f"{name}: expected numbers, got {type(value).__name__}")
        try:
            result = function(*args)
        except (OverflowError, TypeError, ValueError, ZeroDivisionError) as error:
            given = ", ".join(map(repr, args[:8]))
            raise type(error)(f"{name}({given}): {_PROBLEMS[type(error)]}") from None
        return bounded(result, name)

    return call


_PROBLEMS: dict[type, str] = {
    OverflowError: "the result does not fit 64 bits",
    TypeError: "no operation on these numbers",
    ValueError: "not defined for these numbers",
    ZeroDivisionError: "division by zero",
}


def power(base: Number, exponent: Number) -> Number:
    """`base ** exponent`, refused before it is computed when it cannot fit 64 bits."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and exponent > 64:
        raise OverflowError("power")
    result: Number = base**exponent
    return result


def symbolic_power(base: Any, exponent: Any) -> Any:
    """`base ** exponent` where one may be a symbolic number; bounded likewise, by the number that
    a symbolic exponent has in this run."""
    if isinstance(base, int | float) and isinstance(exponent, int | float):
        return power(base, exponent)
    _check_count(exponent, "power")
    return base**exponent


def _symbolic_shift(value: Any, by: Any) -> Any:
    _check_count(by, "shift")
    return value << by


def _symbolic_choice(condition: Any, then: Any, otherwise: Any) -> Any:
    """By a guard where one of the two has become a number."""
    if type(then) is type(otherwise):
        return dispatch.sym_ite(condition, then, otherwise)
    return then if condition else otherwise


def _check_count(value: Any, name: str) -> None:
    known = value if isinstance(value, int | float) else value.node.hint
    if known is None or known > 64:
        raise OverflowError(f"{name}: the result does not fit 64 bits")


def _shift_left(value: int, by: int) -> int:
    if value and by > 64:
        raise OverflowError("shift")
    return value << by if value else 0


def _rounded(value: Number, digits: int | None = None) -> Number:
    """`round`; no 64-bit number has more than 20 digits before the point."""
    return round(value, digits if digits is None else max(digits, -20))


def _sum(*terms: Number) -> Number:
    return sum(terms)


def _choose(condition: bool, then: Number, otherwise: Number) -> Number:
    return then if condition else otherwise


def _larger(a: Number, b: Number) -> Number:
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def _smaller(a: Number, b: Number) -> Number:
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "_operator.abs": operator.abs,
    "_operator.add": operator.add,
    "_operator.and_": operator.and_,
    "_operator.eq": operator.eq,
    "_operator.floordiv": operator.floordiv,
    "_operator.ge": operator.ge,
    "_operator.gt": operator.gt,
    "_operator.le": operator.le,
    "_operator.lshift": _shift_left,
    "_operator.lt": operator.lt,
    "_operator.mod": operator.mod,
    "_operator.mul": operator.mul,
    "_operator.ne": operator.ne,
    "_operator.neg": operator.neg,
    "_operator.not_": operator.not_,
    "_operator.or_": operator.or_,
    "_operator.pos": operator.pos,
    "_operator.pow": power,
    "_operator.rshift": operator.rshift,
    "_operator.sub": operator.sub,
    "_operator.truediv": operator.truediv,
    "_operator.xor": operator.xor,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.trunc": math.trunc,
    "torch.sym_float": float,
    "torch.sym_int": math.trunc,
    "torch.sym_ite": _choose,
    "torch.sym_max": _larger,
    "torch.sym_min": _smaller,
    "torch.sym_not": operator.not_,
    "torch.sym_sum": _sum,
    "builtins.round": _rounded,
    "round": _rounded,
    "torch._sym_sqrt": math.sqrt,
    "torch.sym_sqrt": math.sqrt,
}
# On symbolic numbers, where Python's own function would ask for a plain one.
_SYMBOLIC: dict[str, Callable[..., Any]] = {
    "_operator.not_": lambda value: dispatch.sym_not(value),
    "_operator.pow": symbolic_power,
    "_operator.lshift": _symbolic_shift,
    "math.trunc": lambda value: dispatch.sym_int(value),
    "torch.sym_float": lambda value: dispatch.sym_float(value),
    "torch.sym_int": lambda value: dispatch.sym_int(value),
    "torch.sym_ite": _symbolic_choice,
    "torch.sym_max": lambda a, b: dispatch.sym_max(a, b),
    "torch.sym_min": lambda a, b: dispatch.sym_min(a, b),
    "torch.sym_not": lambda value: dispatch.sym_not(value),
    "torch.sym_sum": lambda *terms: dispatch.sym_sum(terms),
    "builtins.round": round,
    "round": round,
    "torch._sym_sqrt": lambda value: dispatch.sym_sqrt(value),
    "torch.sym_sqrt": lambda value: dispatch.sym_sqrt(value),
}
NUMBER_OPERATORS = {name: _checked(function, name) for name, function in _FUNCTIONS.items()}
