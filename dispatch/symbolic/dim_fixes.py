"""Declarations of dimensions that guards would allow, from what was found of each by its name.

Used by `dim_constraints` for its suggestions. A dimension is a root (`Dim('dx', min=2, max=8)`) or
computed from a root (`2*dx + 1`); only roots are suggested, the others follow.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from dispatch.pytree import tree_leaves

__all__ = ["Fixes", "dims_of"]


@dataclass
class _Fact:
    """What is known of a dimension: its range, or what it is (a number, an expression)."""

    low: Any = None
    high: Any = None
    equal: Any = None


class _Root:
    """A dimension that nobody declared, from which a declared one is computed."""


def dims_of(dynamic_shapes: Any) -> dict[str, Any]:
    """{name: dimension} of a nest of them, with the roots of those that are computed."""
    found: dict[str, Any] = {}
    for dim in tree_leaves(dynamic_shapes):
        if hasattr(dim, "__name__"):
            found[dim.__name__] = dim
            root: Any = getattr(dim, "root", None)
            if hasattr(root, "__name__"):
                found.setdefault(root.__name__, root)
    return found


def _root_of(expr: Any) -> str:
    return str(next(iter(expr.free_symbols)))


class Fixes:
    """Facts by the dimension's name, and the lines of code that they come to."""

    def __init__(self, dims: dict[str, Any]) -> None:
        self.dims = dict(dims)
        self.facts: dict[str, _Fact] = {}

    def take(self, left: str, sign: str, right: str) -> None:
        """`dx <= 8`, `2 <= dx`, `dy == dx + 1`."""
        if left.isdigit() and not right.isdigit():
            left, right = right, left
            sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
        if sign == "==" and left == right:
            return
        if not right.isdigit():
            try:
                self._fact(left).equal = sympy.sympify(right)
            except (TypeError, sympy.SympifyError):  # a source without a name
                del self.facts[left]
            return
        number, fact = int(right), self._fact(left)
        if sign == "==":
            fact.equal = number
        elif sign in ("<", "<="):
            fact.high = number - (sign == "<")
        else:
            fact.low = number + (sign == ">")

    def lines(self, order: Callable[[str], str]) -> list[str]:
        """Declarations of ranges first, then what must be equal."""
        self._introduce_roots()
        self._suggest_roots()
        ranges, equal = [], []
        for name in sorted(self.facts, key=order):
            fact = self.facts[name]
            if fact.equal is not None:
                if isinstance(fact.equal, int) or _is_linear(fact.equal):
                    equal.append(f"{name} = {fact.equal}")
                continue
            low = f", min={fact.low}" if fact.low not in (None, 2) else ""
            high = f", max={fact.high}" if fact.high is not None else ""
            ranges.append(f"{name} = Dim('{name}'{low}{high})")
        return ranges + equal

    def _fact(self, name: str) -> _Fact:
        return self.facts.setdefault(name, _Fact())

    def _derived(self) -> list[tuple[str, _Fact]]:
        return [(n, f) for n, f in self.facts.items() if isinstance(f.equal, sympy.Expr)]

    def _introduce_roots(self) -> None:
        """dx = 3*_dx + 1: the range is that of _dx, and what was computed from dx is from _dx."""
        for name, fact in self._derived():
            root = _root_of(fact.equal)
            if root in self.dims:
                continue
            factor, rest = sympy.div(fact.equal, sympy.Symbol(root))
            low = math.ceil(((2 if fact.low is None else fact.low) - rest) / factor)
            high = None if fact.high is None else math.floor((fact.high - rest) / factor)
            self.facts[root] = _Fact(low, high)
            self.dims[root] = _Root()
            fact.low = fact.high = None
            for other, computed in self._derived():
                if other != name and _root_of(computed.equal) == name:
                    computed.equal = computed.equal.subs(sympy.Symbol(name), fact.equal)

    def _suggest_roots(self) -> None:
        """Nothing of a computed dimension; of a root only what differs from its declaration."""
        new: dict[str, _Fact] = {}
        declared = {n for n, dim in self.dims.items() if not isinstance(dim, _Root)}
        roots = {n for n in self.facts if n in declared and not hasattr(self.dims[n], "root")}
        roots = {n for n in roots if not isinstance(self.facts[n].equal, sympy.Expr)}
        computed = [getattr(self.dims.get(n), "root", None) for n in self.facts]
        roots |= {dim.__name__ for dim in computed if dim is not None}
        roots |= {_root_of(f.equal) for _, f in self._derived()} & declared
        for name in roots:
            fact = self.facts.get(name)
            if fact is None or isinstance(fact.equal, sympy.Expr):
                fact = self._through_derived(name)
            if fact is not None and (fact.equal is not None or not self._same_range(name, fact)):
                new[name] = fact
        for name in list(self.facts):
            if name in roots or hasattr(self.dims.get(name), "root"):
                del self.facts[name]
        self.facts.update(new)

    def _through_derived(self, root: str) -> _Fact | None:
        """The range of a root from that of a dimension computed from it."""
        s = sympy.Symbol(root)
        for name, fact in self.facts.items():
            dim = self.dims.get(name)
            if getattr(getattr(dim, "root", None), "__name__", None) != root:
                continue
            ends = [
                None if end is None else sympy.solve(sympy.sympify(name) - end, s)[0]
                for end in (fact.low, fact.high)
            ]
            if ends != [None, None]:
                return _Fact(*ends)
        return None

    def _same_range(self, name: str, fact: _Fact) -> bool:
        dim = self.dims[name]
        low = 2 if fact.low is None else fact.low
        same_low = dim.min == low or (dim.min < 2 and low == 2)
        high = math.inf if fact.high is None else fact.high
        declared = math.inf if dim.max is None else float(dim.max)
        return bool(same_low and declared == float(high))


def _is_linear(expr: Any) -> bool:
    """A symbol, or one with whole numbers added and multiplied: what a declaration can say."""
    if len(expr.free_symbols) != 1:
        return False
    (s,) = expr.free_symbols
    return bool(expr.is_polynomial(s) and sympy.degree(expr, s) == 1)
