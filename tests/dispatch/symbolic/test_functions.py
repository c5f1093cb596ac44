"""PyTorch's functions on expressions, sympy's objects and numbers; ranges of sympy expressions."""

from typing import Any

import pytest

from dispatch.symbolic import (
    ShapeEnv,
    ValueRanges,
    has_free_symbols,
    hint_int,
    statically_known_true,
    symbol_kinds,
)
from dispatch.symbolic.functions import (
    CeilDiv,
    FloorDiv,
    IsNonOverlappingAndDenseIndicator,
    Max,
    Mod,
    PowByNatural,
    ToFloat,
    Where,
    bound_sympy,
)
from dispatch.symbolic.ranges import int_oo

from .making import size

sympy = pytest.importorskip("sympy")


def test_function_of_an_expression_is_one_of_its_environment() -> None:
    env = ShapeEnv()
    a = size(env, 7, "a")
    for made in (FloorDiv(a.node.expr, 3), FloorDiv(a, 3)):
        assert made is (a // 3).node.expr
        assert isinstance(made, FloorDiv)
        assert not isinstance(made, Mod)
    assert CeilDiv(a, 2) is ((a + 1) // 2).node.expr
    assert Max(3, a) is env.sympify(Max(3, a))
    assert Where((a > 3).node.expr, a, 5).function == "Piecewise"


@pytest.mark.parametrize(
    ("function", "args", "value"),
    [(FloorDiv, (-7, 2), -4), (Mod, (7, 4), 3), (PowByNatural, (2, 5), 32), (CeilDiv, (7, 2), 4),
     (ToFloat, (3,), 3.0), (Max, (3, 4), 4), (IsNonOverlappingAndDenseIndicator, (2, 3, 3, 1), 1)],
)  # fmt: skip
def test_function_of_numbers_is_worked_out(function: Any, args: Any, value: Any) -> None:
    assert function(*args) == value


def test_function_of_sympy_symbols_goes_to_an_environment_and_back() -> None:
    i, j = (sympy.Symbol(name, integer=True) for name in "ij")
    e = FloorDiv(i, j)
    assert e.is_integer
    assert isinstance(e, FloorDiv)
    assert FloorDiv(i, i) == 1
    assert FloorDiv(i, 1) == i
    env = ShapeEnv()
    taken = env.sympify(sympy.Eq(Mod(i, 3) + FloorDiv(i, 2), j))
    assert env.sympify(taken.sympy()) is taken
    assert taken.sympy().has(FloorDiv(i, 2).func)


def test_bounds_of_a_sympy_expression() -> None:
    s = sympy.Symbol("s", integer=True, positive=True)
    ranges = {s: ValueRanges(1, 5)}
    assert bound_sympy(s * s + FloorDiv(s, 2), ranges) == ValueRanges(1, 27)
    assert bound_sympy(sympy.Max(s, 3), ranges) == ValueRanges(3, 5)
    assert bound_sympy(7) == ValueRanges(7, 7)
    free = sympy.Symbol("n", integer=True, nonnegative=True)
    assert bound_sympy(s + free, {}).lower == 1
    assert bound_sympy(s + free, {s: 3}).lower == 3
    assert bound_sympy(sympy.Symbol("k", integer=True)).lower == -int_oo


@pytest.mark.parametrize(("text", "found"), [("1", False), ("1.5", False), ("a*2 + b", True)])
def test_free_symbols_of_sympy(text: str, found: bool) -> None:
    assert has_free_symbols(sympy.sympify(text)) is found


def test_hint_int() -> None:
    env = ShapeEnv()
    u = env.create_unbacked_symint()
    assert [hint_int(size(env, 6, "a")), hint_int(5), hint_int(u, fallback=7)] == [6, 5, 7]
    with pytest.raises(RuntimeError, match="data-dependent"):
        hint_int(u)


def test_kind_of_a_symbol() -> None:
    env = ShapeEnv()
    kind = symbol_kinds.SymT
    u = env.create_unbacked_symint().node.expr
    assert symbol_kinds.symbol_is_type(u, kind.UNBACKED_INT)
    assert not symbol_kinds.symbol_is_type(u, (kind.SIZE, kind.UNBACKED_FLOAT))
    assert symbol_kinds.free_symbol_is_type(size(env, 5, "a").node.expr * u, kind.SIZE)
    assert str(symbol_kinds.make_symbol(kind.SIZE, 3, integer=True)) == "s3"


def test_quotient_is_known_by_a_remainder_that_is_known() -> None:
    env = ShapeEnv()
    a = size(env, 8, "a")
    assert not statically_known_true(a // (a // 2) == 2)
    assert a % 2 == 0
    assert a % (a // 2) == 0
    assert statically_known_true(a // (a // 2) == 2)
