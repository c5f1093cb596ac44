"""Expressions: their values, their normal form, their text, and who keeps them alive."""

import gc
import pickle
import weakref
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from dispatch.symbolic import (
    ShapeEnv,
    SymInt,
    statically_known_true,
    sym_float,
    sym_ite,
    sym_max,
    sym_min,
    sym_not,
)
from dispatch.symbolic.expr import count_pages

from .making import PROGRAMS, run, size

POINTS = st.lists(st.tuples(*[st.integers(2, 9)] * 3), min_size=1, max_size=4)


@given(PROGRAMS, POINTS)
@settings(max_examples=200, deadline=None)
def test_expression_has_the_value_of_the_program(program: Any, points: Any) -> None:
    """At any point where no step divides by zero, or did so in the run."""
    env = ShapeEnv()
    hints = points[0]
    names = [size(env, hint, name) for hint, name in zip(hints, "abc", strict=True)]
    values = run(program, names)
    for point in points:
        at = {str(n): v for n, v in zip(names, point, strict=True)}
        try:
            wanted = run(program, list(point))
            got = [v.node.expr.evaluate(at) if isinstance(v, SymInt) else v for v in values]
        except ZeroDivisionError:
            continue
        if any(_divides_by_zero(program, list(p)) for p in (hints, point)):
            continue
        assert got == wanted


def _divides_by_zero(program: Any, point: Any) -> bool:
    values = list(point)
    for step in program:
        operation, _, (kind, j) = step
        divisor = values[j % len(values)] if kind == "value" else j
        if operation in ("//", "%") and divisor == 0:
            return True
        values = run([step], values)
    return False


@given(PROGRAMS)
@example([("+", 0, ("value", 0)), ("max", 0, ("number", 2)), ("max", 4, ("value", 3))])
@settings(max_examples=150, deadline=None)
def test_text_is_read_back_as_the_same_node(program: Any) -> None:
    env = ShapeEnv()
    for value in run(program, [size(env, 5, name) for name in "abc"]):
        if isinstance(value, SymInt):
            e = value.node.expr
            assert env.parse(str(e)) is e
            assert pickle.loads(pickle.dumps(e)) == e
            assert env.sympify(pickle.loads(pickle.dumps(e))) is e


@given(PROGRAMS, POINTS)
@settings(max_examples=150, deadline=None)
def test_range_contains_every_value(program: Any, points: Any) -> None:
    env = ShapeEnv()
    names = [size(env, hint, name) for hint, name in zip(points[0], "abc", strict=True)]
    for value in run(program, names):
        if not isinstance(value, SymInt):
            continue
        r = env.bound_sympy(value.node.expr)
        for point in points:
            at = {str(n): v for n, v in zip(names, point, strict=True)}
            try:
                number = value.node.expr.evaluate(at)
            except ZeroDivisionError:
                continue
            assert r.lower <= number <= r.upper


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda a, b, c: a + 1, "s99 + 1"),
        (lambda a, b, c: 1 - a, "1 - s99"),
        (lambda a, b, c: 2 * a * b, "2*s65*s99"),
        (lambda a, b, c: a // 2, "(s99//2)"),
        (lambda a, b, c: a == 4, "Eq(s99, 4)"),
        (lambda a, b, c: (a + b) * c, "s58*(s65 + s99)"),
        (lambda a, b, c: (a + b) * (a + b), "(s65 + s99)**2"),
        (lambda a, b, c: a - 4 * b + c, "s58 - 4*s65 + s99"),
        (lambda a, b, c: sym_min(a, 7), "Min(7, s99)"),
        (lambda a, b, c: (a // 2) * 3 + 1, "3*((s99//2)) + 1"),
        (lambda a, b, c: (a < b) & (b < c), "(s65 < s58) & (s99 < s65)"),
        (lambda a, b, c: sym_not((a < b) & (b < c)), "~((s65 < s58) & (s99 < s65))"),
        (lambda a, b, c: sym_float(a) * 2.5 - 1, "2.5*ToFloat(s99) - 1.0"),
        (lambda a, b, c: sym_ite(a < b, a, b), "Piecewise((s99, s65 > s99), (s65, True))"),
        (lambda a, b, c: b - (a // 2), "s65 - ((s99//2))"),
        (lambda a, b, c: (a // b) < 3, "((s99//s65)) < 3"),
        (lambda a, b, c: a**b, "PowByNatural(s99, s65)"),
        (lambda a, b, c: (a - b) % c, "PythonMod(-s65 + s99, s58)"),
        (lambda a, b, c: a % -2, "PythonMod(s99, -2)"),
        (lambda a, b, c: a**2 + a + b * a + b**2 + 1, "s65**2 + s65*s99 + s99**2 + s99 + 1"),
        (lambda a, b, c: round(a / 3), "RoundToInt(IntTrueDiv(s99, 3))"),
    ],
)
def test_expression_prints_as_sympy_prints_it(make: Any, text: str) -> None:
    env = ShapeEnv()
    made = make(*[size(env, v, n) for v, n in zip((4, 5, 6), "abc", strict=True)])
    assert str(made.node.expr) == str(made) == text


def test_equal_expressions_are_one_node() -> None:
    env = ShapeEnv()
    a, b = size(env, 4, "a"), size(env, 5, "b")
    assert (a * 2 + b + a).node.expr is (b + 3 * a).node.expr
    assert ((a * b) // b).node.expr is a.node.expr
    assert (a // 2 // 3).node.expr is (a // 6).node.expr
    assert (4 * a + 8 * b).node.expr // 4 is (a + 2 * b).node.expr
    assert sym_max(a, sym_max(b, a)).node.expr is sym_max(b, a).node.expr


def test_expressions_of_two_environments_are_equal_but_do_not_mix() -> None:
    first, second = size(ShapeEnv(), 4, "a"), size(ShapeEnv(), 4, "a")
    assert first.node.expr == second.node.expr
    assert hash(first.node.expr) == hash(second.node.expr)
    with pytest.raises(AssertionError, match="two ShapeEnvs"):
        first + second


def test_nodes_leave_the_table_with_their_environment() -> None:
    gc.collect()
    before = count_pages()
    env = ShapeEnv()
    numbers = [size(env, 5, str(i)) * 2 + i for i in range(300)]
    assert count_pages() > before
    gone = weakref.ref(env)
    del env, numbers
    assert gone() is None
    assert count_pages() == before


def test_division_by_zero_is_met_where_python_meets_it() -> None:
    a = size(ShapeEnv(), 4, "a")
    zero = a % 2
    for divide in (
        lambda: a // 0,
        lambda: a % 0,
        lambda: a / 0,
        lambda: 1 // (a - 4),
        lambda: zero % zero,
        lambda: zero // zero,
    ):
        with pytest.raises(ZeroDivisionError):
            divide()


def test_a_multiple_by_a_negative_number_leaves_no_remainder() -> None:
    a = size(ShapeEnv(), 4, "a")
    assert (a % -a, a // -a, (6 * a) % (-3 * a)) == (0, -1, 0)
    assert str(a % (-3 * a)) == f"PythonMod({a}, -3*{a})"


@pytest.mark.parametrize("text", ["7//-2", "-7//2", "-7//-2", "0//3"])
def test_quotients_of_numbers_round_down(text: str) -> None:
    """Where an expression comes to numbers alone, as a text or as a difference does."""
    a, b = (int(part) for part in text.split("//"))
    assert ShapeEnv().parse(f"({a})//({b})").value == a // b


@pytest.mark.parametrize(("a", "b"), [(7, -2), (-7, 2), (-7, -2), (6, -3)])
def test_remainders_of_numbers_have_the_sign_of_the_divisor(a: int, b: int) -> None:
    assert ShapeEnv().parse(f"Mod({a}, {b})").value == a % b


@given(st.integers(2, 30), st.integers(2, 30), st.integers(1, 7), st.sampled_from([-3, -2, 2, 3]))
def test_a_sum_is_divided_with_what_is_left_of_it(a: int, b: int, k: int, n: int) -> None:
    env = ShapeEnv()
    x, y = size(env, 5, "a"), size(env, 7, "b")
    at = {str(x): a, str(y): b}
    assert ((x * n + y + k) // n).node.expr.evaluate(at) == (a * n + b + k) // n
    assert ((x * n + k) // n).node.expr.evaluate(at) == (a * n + k) // n


@given(st.integers(2, 60), st.integers(1, 5), st.integers(-5, 5).filter(bool))
def test_a_quotient_that_is_divided_again_has_its_value(a: int, m: int, n: int) -> None:
    """One quotient by the product is the same for a positive second divisor only."""
    env = ShapeEnv()
    x = size(env, 9, "a")
    assert (x // m // n).node.expr.evaluate({str(x): a}) == a // m // n


def test_an_extreme_is_one_of_its_arguments() -> None:
    env = ShapeEnv()
    a, b = size(env, 7, "a"), size(env, 5, "b")
    assert statically_known_true(a != sym_max(1, a - 2))
    assert statically_known_true(sym_min(a, b) + 1 > 2)
    assert statically_known_true(a + b > sym_max(a, b))
    assert not statically_known_true(a != sym_max(b, a - 2))
    assert not statically_known_true(a > sym_min(b, a))
    assert not env.guards


def test_a_maximum_of_thousands_is_one_of_them() -> None:
    """Whether an argument is there already is looked up, not searched."""
    env = ShapeEnv()
    a, b = size(env, 7, "a"), size(env, 5, "b")
    largest = a
    for i in range(3000):
        largest = sym_max(largest, b + i)
    assert sym_max(largest, b + 1).node.expr is largest.node.expr
    assert largest.node.expr.evaluate({str(a): 7, str(b): 5}) == 3004


def test_of_two_multiples_of_what_is_negative_the_smaller_factor_is_the_larger() -> None:
    x = sym_min(ShapeEnv().create_unbacked_symint(), -1)
    assert str(sym_max(2 * x, 3 * x)) == str(2 * x)
    assert str(sym_min(2 * x, 3 * x)) == str(3 * x)
