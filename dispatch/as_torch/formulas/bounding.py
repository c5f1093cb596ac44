"""`torch.utils._sympy.value_ranges.SymPyValueRangeAnalysis`: between what a function's value lies.

Numbers are worked out (`ReferenceAnalysis`); for ranges the bounds of a formula of symbols are
asked, as guards ask them (`bound_sympy`).
"""

from typing import Any

import sympy

from dispatch.as_torch.formulas.analyses import ReferenceAnalysis
from dispatch.symbolic import ValueRanges
from dispatch.symbolic.functions import bound_sympy

__all__ = ["SymPyValueRangeAnalysis"]

_UNARY = """
abs ceil ceil_to_int exp floor floor_to_int log log2 neg not_ reciprocal round_to_int sqrt square
to_dtype trunc_to_int
"""
_BINARY = """
add and_ bitwise_and bitwise_or bitwise_xor eq floordiv ge gt int_truediv le lt maximum minimum
mod mul ne or_ pow pow_by_natural round_decimal sub truediv
"""


class SymPyValueRangeAnalysis:
    """The functions of `ReferenceAnalysis`, of ranges (or numbers), to ranges."""

    @staticmethod
    def constant(value: Any, dtype: Any) -> ValueRanges:
        """The range of one number."""
        return ValueRanges.wrap(value)


def _symbol(place: int, found: ValueRanges) -> Any:
    if found.is_bool:
        return sympy.Symbol(f"r{place}")
    return sympy.Symbol(f"r{place}", integer=True if found.is_int else None)


def _bounded(name: str) -> Any:
    def bounded(*args: Any) -> ValueRanges:
        function = getattr(ReferenceAnalysis, name)
        ranges = [ValueRanges.wrap(a) for a in args]
        if all(found.is_singleton() for found in ranges):
            given = [a.lower if isinstance(a, ValueRanges) else a for a in args]
            return ValueRanges.wrap(function(*map(sympy.sympify, given)))
        symbols = [_symbol(place, found) for place, found in enumerate(ranges)]
        return bound_sympy(function(*symbols), dict(zip(symbols, ranges, strict=True)))

    return staticmethod(bounded)


for _name in (*_UNARY.split(), *_BINARY.split()):
    setattr(SymPyValueRangeAnalysis, _name, _bounded(_name))
