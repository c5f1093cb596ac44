"""Sums of products over sizes: what they are, and which of two can be the larger one."""

import pytest

from dispatch.graph.cases import new_symbols
from dispatch.graph.polynomial import Polynomial, largest, never_above
from dispatch.graph.sizes import OpenSize

SYMBOLS = new_symbols([OpenSize(n, (n,), 2, None, 9, ()) for n in "ab"], {"a": 9, "b": 9})
A, B = SYMBOLS.exprs["a"], SYMBOLS.exprs["b"]
LIMITS = {A: (1, 10), B: (2, None)}


def bounds(atom):
    return LIMITS.get(atom)


@pytest.mark.parametrize(
    ("expr", "shown"),
    [
        ((A + 1) * (B + 2) * 4, "4*a*b + 8*a + 4*b + 8"),
        (A * (B - A), "a*b - a**2"),
        (A * A * A - 1, "a**3 - 1"),
        ((A * B) // 3 + A - A, "((a*b)//3)"),
        (A - A, "0"),
    ],
)
def test_products_are_multiplied_out(expr, shown):
    found = Polynomial.of(expr)
    assert str(found) == shown
    values = {"a": 4, "b": 7}
    assert found.evaluate(values) == expr.evaluate(values)


def test_a_number_is_plain():
    assert Polynomial.of(7).plain == 7 and Polynomial.of(A - A).plain == 0
    assert (Polynomial.of(A) - Polynomial.of(A) + Polynomial.of(3)).plain == 3


@pytest.mark.parametrize(
    ("a", "b", "certain"),
    [
        (A, A + B, True),
        (A + B, A, False),
        (A * A, 10 * A, True),      # a is at most 10
        (A * A, 9 * A, False),
        (2 * B, B * B, True),       # b is at least 2
        (3 * B, B * B, False),
        (20 * A, 100 + A * A, True),  # (a - 10)**2 is never negative
        (10 * B, A * B, False),
        (A * B, 10 * B, True),
        ((A * B) // 3, A * B, False),  # of a quotient nothing is known here
        (A + 2, B + 10, True),      # each at its worst: 12 to 12
        (A + 3, B + 10, False),
        (-B, -2, True),
        (B, 1000, False),           # b has no end
        (A * A + B, 100 + 2 * B, True),  # b alone, a to the second power
        (A * A + 3 * B, 100 + 2 * B, False),
    ],
)  # fmt: skip
def test_what_is_certain_within_the_bounds(a, b, certain):
    assert never_above(Polynomial.of(a), Polynomial.of(b), bounds) is certain


def test_sums_of_many_numbers_are_decided_and_products_of_many_left_open():
    names = [f"u{i}" for i in range(40)]
    made = new_symbols([OpenSize(n, (n,), 2, None, 9, ()) for n in names], dict.fromkeys(names, 9))
    many = list(made.exprs.values())
    total = Polynomial.of(sum(3 * x for x in many))
    assert never_above(total, Polynomial.of(40 * 3 * 5), lambda _: (1, 5))
    assert not never_above(total, Polynomial.of(40 * 3 * 5 - 1), lambda _: (1, 5))
    pairs = [x * y for x, y in zip(many[::2], many[1::2], strict=True)]
    assert never_above(Polynomial.of(sum(pairs[:5])), Polynomial.of(5 * 25), lambda _: (1, 5))
    assert not never_above(Polynomial.of(sum(pairs)), Polynomial.of(20 * 25), lambda _: (1, 5))


def test_the_maximum_keeps_what_can_be_it():
    given = [Polynomial.of(e) for e in (A + 3, A * B, B * B, A * B + 1, A + 3, B * B)]
    kept = largest(given, bounds)
    assert [str(x) for x in kept] == ["a + 3", "b**2", "a*b + 1"]
    for a in range(1, 11):
        for b in range(2, 40):
            at = {"a": a, "b": b}
            assert max(x.evaluate(at) for x in kept) == max(x.evaluate(at) for x in given)
