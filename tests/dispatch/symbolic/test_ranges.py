"""ValueRanges: what is in one, intersections, infinities."""

import pickle
from typing import Any

import pytest

import dispatch
from dispatch.symbolic import ShapeEnv, ValueRanges, int_oo, sym_max
from dispatch.symbolic.errors import ValueRangeError


def test_infinite_bounds_of_whole_numbers_are_int_oo() -> None:
    r = ValueRanges(2, int_oo)
    assert (r.is_int, r.upper is int_oo, str(r)) == (True, True, "VR[2, int_oo]")
    assert 10**30 in r
    assert 1 not in r
    assert ValueRanges.unknown().is_float


def test_intersection_keeps_the_narrower_bounds() -> None:
    assert ValueRanges(2, 9) & ValueRanges(5, int_oo) == ValueRanges(5, 9)
    with pytest.raises(ValueRangeError):
        ValueRanges(2, 3) & ValueRanges(5, 9)
    with pytest.raises(ValueRangeError):
        ValueRanges(3, 2)


@pytest.mark.parametrize(
    ("made", "low", "high"),
    [
        (ValueRanges.increasing_map(ValueRanges(2, 5), lambda x: x + 1), 3, 6),
        (ValueRanges.decreasing_map(ValueRanges(2, 5), lambda x: -x), -5, -2),
        (ValueRanges.monotone_map(ValueRanges(2, 5), lambda x: 3 - x), -2, 1),
        (ValueRanges.convex_min_zero_map(ValueRanges(-2, 5), lambda x: x * x), 0, 25),
        (ValueRanges.convex_min_zero_map(ValueRanges(-5, -2), lambda x: x * x), 4, 25),
        (ValueRanges.coordinatewise_increasing_map(ValueRanges(1, 2), 3, lambda x, y: x + y), 4, 5),
        (ValueRanges.coordinatewise_monotone_map(ValueRanges(-1, 2), 3, lambda x, y: x * y), -3, 6),
        (ValueRanges.unknown().boolify(), False, True),
        (ValueRanges(True, True).boolify(), True, True),
    ],
)
def test_functions_of_ranges(made: ValueRanges, low: Any, high: Any) -> None:
    assert made == ValueRanges(low, high)


def test_a_range_of_numbers_is_not_one_of_truth_values() -> None:
    with pytest.raises(AssertionError, match="not bool like"):
        ValueRanges(0, 1).boolify()


def test_a_range_survives_pickling() -> None:
    r = ValueRanges(-int_oo, 3)
    assert pickle.loads(pickle.dumps(r)) == r


@pytest.mark.parametrize(
    ("make", "low", "high"),
    [
        (lambda u: -u, -3, 9),
        (lambda u: abs(u), 0, 9),
        (lambda u: u * (u + 1), -36, 72),
        (lambda u: u // 2, -5, 1),
        (lambda u: u % -4, -3, 0),
        (lambda u: sym_max(u, 0), 0, 3),
    ],
)
def test_bounds_follow_through_operations_on_either_sign(make: Any, low: int, high: int) -> None:
    env = ShapeEnv()
    u = env.create_unbacked_symint()
    env.constrain_symbol_range(u.node.expr, -9, 3)
    assert env.bound_sympy(make(u).node.expr) == ValueRanges(low, high)


def test_remainders_of_what_may_be_zero_and_not_less_are_mod() -> None:
    env = ShapeEnv()
    u = env.create_unbacked_symint()
    assert str((u % 3).node.expr) == "PythonMod(u0, 3)"
    dispatch._check(u >= 0)
    assert str((u % 3).node.expr) == "Mod(u0, 3)"


def test_a_remainder_of_what_may_be_negative_has_the_range_of_its_divisor():
    env = ShapeEnv()
    a, b = env.create_unbacked_symint(), env.create_unbacked_symint()
    env.constrain_symbol_range(a.node.expr, 0, 5)
    env.constrain_symbol_range(b.node.expr, 6, 9)
    assert env.bound_sympy(((a - 3) % 5).node.expr) == ValueRanges(0, 4)
    assert env.bound_sympy(((a - 3) % b).node.expr) == ValueRanges(0, 8)
    assert env.bound_sympy((a % b).node.expr) == ValueRanges(0, 5)


def test_what_has_no_hint_says_so():
    env = ShapeEnv()
    mode = dispatch.FakeTensorMode(shape_env=env)
    (size,) = mode.from_tensor(dispatch.ones(5), static_shapes=False).shape
    assert env.has_guarding_hint(size.node.expr)
    assert not env.has_guarding_hint(env.create_unbacked_symint().node.expr)


def test_infinity_times_nothing_is_nothing() -> None:
    assert int_oo * 0 == 0 * int_oo == (-int_oo) * 0 == 0
    assert int_oo * -2 == -int_oo
