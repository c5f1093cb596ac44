"""Expressions in sympy's classes have the values that they have here, and come back."""

from typing import Any

import pytest
from hypothesis import given, settings

from dispatch.symbolic import ShapeEnv, SymInt, canonicalize_bool_expr, sym_float, sym_ite

from .making import PROGRAMS, run, size

sympy = pytest.importorskip("sympy")


@given(PROGRAMS)
@settings(max_examples=100, deadline=None)
def test_there_and_back_is_the_same_expression(program: Any) -> None:
    env = ShapeEnv()
    symbols = [size(env, hint, name) for hint, name in zip((3, 5, 8), "abc", strict=True)]
    for value in run(program, symbols):
        if isinstance(value, SymInt):
            expr = value.node.expr
            assert env.size_hint(env.simplify(expr.sympy())) == value.node.hint


def test_sums_and_products_are_what_sympy_makes_of_them() -> None:
    env = ShapeEnv()
    a, b = size(env, 3, "a"), size(env, 5, "b")
    x, y = a.node.expr.sympy(), b.node.expr.sympy()
    assert ((a + 1) * (b - 2) + a * b).node.expr.sympy() == (x + 1) * (y - 2) + x * y
    assert (a * 2 > b).node.expr.sympy() == sympy.Gt(2 * x, y)
    assert x.is_integer and x.is_positive


def test_what_sympy_does_not_have_keeps_its_name() -> None:
    env = ShapeEnv()
    a, b = size(env, 3, "a"), size(env, 5, "b")
    assert type((a // b).node.expr.sympy()).__name__ == "FloorDiv"
    assert type(sym_float(a).node.expr.sympy()).__name__ == "ToFloat"
    assert isinstance(sym_ite(a > b, a, b).node.expr.sympy(), sympy.Piecewise)


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("6*a + 4*b > 8", "4 < 3*a + 2*b"),
        ("a >= b + 2", "b + 2 <= a"),
        ("Eq(2*a, 6)", "Eq(a, 3)"),
        ("2*a - 4*b < 0", "a < 2*b"),
        ("~(a > 3)", "a <= 3"),
        ("(a > 3) | (b <= 1)", "(b <= 1) | (3 < a)"),
        ("a", "a"),
    ],
)
def test_conditions_have_one_form(given_text: str, wanted: str) -> None:
    names = {n: sympy.Symbol(n, integer=True) for n in "ab"}
    assert str(canonicalize_bool_expr(sympy.sympify(given_text, names))) == wanted
