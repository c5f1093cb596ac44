"""Sums of products over sizes: what memory and operations are as expressions.

`symbolic` adds up the bytes of a run's storages with these: an expression of `dispatch.symbolic` is
multiplied out, so that equal amounts are equal terms, and a quotient or the like is an atom as a
symbol is. `never_above` decides, within the ranges of the atoms, which of two amounts can be the
larger one, so that a maximum keeps only what can be it. Invariant: no term has the factor 0.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

__all__ = ["Bounds", "Polynomial", "largest", "never_above"]

Monomial = tuple[tuple[Any, int], ...]  # (atom, power), by the atoms' texts
Bounds = Callable[[Any], tuple[int, int | None] | None]  # of an atom; None: not known
_MOST_TERMS = 256  # what has more when multiplied out stays one atom
_MOST_POWER = 16
_MOST_ATOMS = 10  # so many in products of each other are decided on: each doubles the work
_MOST_MIXED = 8  # so many are held against the means of two others


class Polynomial:
    """Whole numbers by monomials; immutable."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {m: n for m, n in terms.items() if n}

    @staticmethod
    def of(value: Any) -> "Polynomial":
        """Of an int, or of an expression."""
        return Polynomial({(): value} if isinstance(value, int) else _terms(value))

    def __add__(self, other: "Polynomial") -> "Polynomial":
        return Polynomial(_sum(self.terms, other.terms, 1))

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return Polynomial(_sum(self.terms, other.terms, -1))

    def times(self, number: int) -> "Polynomial":
        """The product with a number."""
        return Polynomial({monomial: number * n for monomial, n in self.terms.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __str__(self) -> str:
        rows = sorted(self.terms.items(), key=lambda row: _order(row[0]))
        texts = [_term_text(monomial, number) for monomial, number in rows]
        return " + ".join(texts).replace("+ -", "- ") or "0"

    __repr__ = __str__

    @property
    def plain(self) -> "int | str":
        """The number, when it is one; else its text."""
        if not any(self.terms):
            return self.terms.get((), 0)
        return str(self)

    @property
    def atoms(self) -> list[Any]:
        """Symbols, and what is no sum of products of them."""
        return list(dict.fromkeys(atom for monomial in self.terms for atom, _ in monomial))

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number under values of the symbols."""
        known = {atom: atom.evaluate(values) for atom in self.atoms}
        return int(self.value(known))

    def value(self, atoms: Mapping[Any, int]) -> int:
        """The number under values of the atoms."""
        total = 0
        for monomial, number in self.terms.items():
            for atom, power in monomial:
                number *= atoms[atom] ** power
            total += number
        return total


def _terms(e: Any) -> dict[Monomial, int]:
    if e.is_Integer:
        return {(): int(e)}
    if e.is_Add:
        total: dict[Monomial, int] = {}
        for part in e.args:
            total = _sum(total, _terms(part), 1)
        return total
    parts = e.args if e.is_Mul else ()
    if not e.is_symbol and e.function in ("Pow", "PowByNatural"):
        base, exponent = e.args
        if exponent.is_Integer and 0 <= int(exponent) <= _MOST_POWER:
            parts = (base,) * int(exponent)
    if parts:
        product: dict[Monomial, int] = {(): 1}
        for part in parts:
            product = _product(product, _terms(part))
            if len(product) > _MOST_TERMS:
                return {((e, 1),): 1}
        return product
    return {((e, 1),): 1}


def _sum(a: Mapping[Monomial, int], b: Mapping[Monomial, int], sign: int) -> dict[Monomial, int]:
    total = dict(a)
    for monomial, number in b.items():
        total[monomial] = total.get(monomial, 0) + sign * number
    return total


def _product(a: Mapping[Monomial, int], b: Mapping[Monomial, int]) -> dict[Monomial, int]:
    total: dict[Monomial, int] = {}
    for left, n in a.items():
        for right, m in b.items():
            powers = dict(left)
            for atom, power in right:
                powers[atom] = powers.get(atom, 0) + power
            monomial = tuple(sorted(powers.items(), key=lambda row: str(row[0])))
            total[monomial] = total.get(monomial, 0) + n * m
    return total


def _order(monomial: Monomial) -> tuple[int, str]:
    """Higher powers first, the number last."""
    return -sum(power for _, power in monomial), str(monomial)


def _term_text(monomial: Monomial, number: int) -> str:
    factors = [f"{atom}**{power}" if power > 1 else str(atom) for atom, power in monomial]
    if not factors or abs(number) != 1:
        factors.insert(0, str(number))
    elif number < 0:
        factors[0] = f"-{factors[0]}"
    return "*".join(factors)


# -- which is the larger one --------------------------------------------------------------------


def never_above(a: Polynomial, b: Polynomial, bounds: Bounds) -> bool:
    """Whether it is certain that a <= b at all values within `bounds`.

    An atom that stands alone and once in b - a is worst at one of its ends. The rest is written in
    a basis that is nowhere negative: for an atom with both bounds Bernstein's, for one with a lower
    bound only the powers of what is above it. Then it is nowhere negative if no coefficient is.
    """
    difference = b - a
    terms: dict[Monomial, Any] = dict(difference.terms)
    mixed = []
    for atom in difference.atoms:
        found = bounds(atom)
        if found is None:
            return False
        if [m for m in terms if any(x is atom for x, _ in m)] != [((atom, 1),)]:
            mixed.append((atom, *found))
            continue
        number = terms.pop(((atom, 1),))
        worst = found[0] if number > 0 else found[1]
        if worst is None:
            return False
        terms[()] = terms.get((), 0) + number * worst
    if len(mixed) > _MOST_ATOMS:
        return False
    for atom, low, high in mixed:
        terms = _in_basis(terms, atom, low, high)
    return all(number >= 0 for number in terms.values())


def _in_basis(
    terms: Mapping[Monomial, Any], atom: Any, low: int, high: int | None
) -> dict[Monomial, Any]:
    """Coefficients with `atom` in the basis of its bounds; where its power stood, the number of
    the basis' polynomial stands."""
    columns: dict[Monomial, dict[int, Any]] = {}
    for monomial, number in terms.items():
        power = next((p for x, p in monomial if x is atom), 0)
        rest = tuple(row for row in monomial if row[0] is not atom)
        columns.setdefault(rest, {})[power] = number
    degree = max(power for column in columns.values() for power in column)
    found: dict[Monomial, Any] = {}
    for rest, column in columns.items():
        moved = [
            sum(comb(p, i) * low ** (p - i) * n for p, n in column.items() if p >= i)
            for i in range(degree + 1)
        ]
        if high is not None:
            scaled = [n * (high - low) ** i for i, n in enumerate(moved)]
            moved = [
                sum(Fraction(comb(j, i), comb(degree, i)) * scaled[i] for i in range(j + 1))
                for j in range(degree + 1)
            ]
        for i, number in enumerate(moved):
            found[rest if not i else (*rest, (atom, i))] = number
    return found


def largest(candidates: Iterable[Polynomial], bounds: Bounds) -> list[Polynomial]:
    """Those of which one is the maximum at every point within `bounds`, in order."""
    kept: list[Polynomial] = []
    for candidate in dict.fromkeys(candidates):
        if not any(never_above(candidate, other, bounds) for other in kept):
            kept = [x for x in kept if not never_above(x, candidate, bounds)]
            kept.append(candidate)
    for candidate in kept[::-1] if len(kept) <= _MOST_MIXED else []:
        others = [x for x in kept if x is not candidate]
        if any(_between(candidate, a, b, bounds) for a, b in combinations(others, 2)):
            kept = others
    return kept


def _between(candidate: Polynomial, a: Polynomial, b: Polynomial, bounds: Bounds) -> bool:
    """Whether it is certain to be at most a mean of `a` and `b`, and so at most one of them."""
    return any(
        never_above(candidate.times(4), a.times(n) + b.times(4 - n), bounds) for n in (1, 2, 3)
    )
