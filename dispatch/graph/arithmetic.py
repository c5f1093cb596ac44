"""Arithmetic on sizes: the targets of nodes that are no operators (`_operator.mul`,
`torch.sym_float`, ...).

A run calls these with plain Python numbers. A stranger's file chooses the operands, so they must be
numbers and the result must fit 64 bits; a power cannot run away.
"""

import math
import operator
from collections.abc import Callable
from functools import wraps

__all__ = ["NUMBER_OPERATORS"]

Number = int | float | bool


def _checked(function: Callable[..., Number], name: str) -> Callable[..., Number]:
    @wraps(function, assigned=("__name__",))
    def call(*args: Number) -> Number:
        for value in args:
            if not isinstance(value, int | float):
                raise TypeError(f"{name}: expected numbers, got {type(value).__name__}")
        result = function(*args)
        if isinstance(result, int) and not -(1 << 63) <= result < 1 << 64:
            raise OverflowError(f"{name}: the result does not fit 64 bits")
        return result

    return call


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and exponent > 64:
        raise OverflowError("power: the result does not fit 64 bits")
    result: Number = base**exponent
    return result


def _shift_left(value: int, by: int) -> int:
    if by > 64:
        raise OverflowError("shift: the result does not fit 64 bits")
    return value << by


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
    "_operator.pow": _power,
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
    "torch.sym_sum": lambda *terms: sum(terms),
    "builtins.round": round,
    "round": round,
    "torch._sym_sqrt": math.sqrt,
    "torch.sym_sqrt": math.sqrt,
}
NUMBER_OPERATORS = {name: _checked(function, name) for name, function in _FUNCTIONS.items()}
