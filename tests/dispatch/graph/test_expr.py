"""`expr`: recorded values of symbolic sizes, and their values under given symbols."""

import pytest

from dispatch.graph.expr import evaluate, hint_of, symbol_of
from dispatch.graph.program import SymExpr, SymExprHint, SymInt

S0 = "Symbol('s0', positive=True, integer=True)"


def sym(text, hint=None):
    return SymInt("as_expr", SymExpr(text, hint and SymExprHint("as_int", hint)))


def test_hint_is_the_traced_value():
    assert hint_of(sym(S0, 5)) == 5
    assert hint_of(sym(S0)) is None
    assert hint_of(SymInt("as_int", 3)) == 3


def test_symbol_of_a_lone_symbol():
    assert symbol_of(sym(S0)) == "s0"
    assert symbol_of(sym(f"Mul(Integer(2), {S0})")) is None
    assert symbol_of(SymInt("as_int", 3)) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (S0, 6),
        (f"Mul(Integer(128), {S0})", 768),
        (f"Add(Integer(-1), {S0})", 5),
        (f"FloorDiv({S0}, Integer(4))", 1),
        (f"Mod({S0}, Integer(4))", 2),
        (f"Pow({S0}, Integer(2))", 36),
        (f"Max(Integer(2), {S0})", 6),
        (f"Mul(Rational(1, 2), {S0})", 3),
        (f"Mul(Float('0.5', precision=53), {S0})", 3),
    ],
)
def test_evaluate(text, value):
    assert evaluate(sym(text), {"s0": 6}) == value


@pytest.mark.parametrize(
    "text",
    [
        "Symbol('s1')",
        "__import__('os')",
        "Integer(1).__class__",
        f"Pow({S0}, Integer(1000000000))",
        "Mul(" * 2000,
        "(" * 4000,
        "-" * 4000 + "1",
        "Add(" * 65 + "1" + ")" * 65,
        "Mod(Integer(1), Integer(0))",
        "Mystery(Integer(1))",
        "Mul(Float('nan', 53), Integer(2))",
        "Pow(Integer(-8), Rational(1, 3))",
        "lambda: 0",
        "\0",
    ],
)
def test_what_is_not_known_is_none(text):
    assert evaluate(sym(text), {"s0": 6}) is None


@pytest.mark.parametrize(
    "text",
    [
        "Mul(6000000000, 'x')",
        "Mod('%6000000000d', 5)",
        "Mod(Float('%6000000000d'), 5)",
        "Add('x', 'x')",
        "Max('x')",
        "Integer('7')",
        "Symbol('s0' 's0')",
        "'x'",
    ],
)
def test_text_is_refused_but_in_a_symbol_or_a_float(text):
    """Python would repeat and format text of any size."""
    assert evaluate(sym(text), {"s0": 6}) is None


@pytest.mark.parametrize(
    "text",
    [
        "9" * 4000,
        "Mul(" + "9223372036854775807, " * 180 + "1)",
        "Pow(9223372036854775807, 64)",
        "Pow(Pow(Pow(2, 64), 64), 64)",
        f"Mul({S0}, 9223372036854775807)",
        f"FloorDiv(Mul({S0}, 9223372036854775807), 9223372036854775807)",
    ],
)
def test_every_number_on_the_way_fits_64_bits(text):
    assert evaluate(sym(text), {"s0": 6}) is None


def test_depth_is_bounded():
    assert evaluate(sym("Add(" * 64 + "1" + ")" * 64), {}) == 1
    assert evaluate(sym("Add(" * 65 + "1" + ")" * 65), {}) is None


@pytest.mark.parametrize("text", [S0[:-1], f"{S0})", "Add(,)", "Add(1,)", "s0", "Add(x=)", "1 2"])
def test_a_text_with_a_mistake_in_it_is_none(text):
    assert evaluate(sym(text), {"s0": 6}) is None
