"""What somebody says of symbols, and what follows from guards for the parts of an expression."""

import pickle
from typing import Any

import pytest

from dispatch.symbolic import (
    ShapeEnv,
    SymInt,
    ValueRangeError,
    ValueRanges,
    _constrain_range_for_size,
    _get_nested_int,
    constrain_range,
    constrain_unify,
    guard_or_false,
    guard_size_oblivious,
    has_static_value,
    int_oo,
    is_concrete_bool,
    is_concrete_int,
    is_nested_int,
    statically_known_true,
    sym_eq,
    sym_max,
    sym_min,
)
from tests.dispatch.symbolic.making import size


@pytest.fixture
def env() -> ShapeEnv:
    return ShapeEnv()


def bounds(number: Any) -> tuple[Any, Any]:
    found = number.node.shape_env.bound_sympy(number.node.expr)
    return found.lower, found.upper


# ---- said by somebody


def test_a_range_is_intersected(env: ShapeEnv) -> None:
    u = env.create_unbacked_symint()
    constrain_range(u, min=3, max=9)
    assert bounds(u) == (3, 9)
    constrain_range(u, min=None, max=7)
    assert bounds(u) == (3, 7)
    constrain_range(u, min=5)
    assert bounds(u) == (5, 7)
    assert statically_known_true(u > 4)
    with pytest.raises(ValueError, match="can't be less than"):
        constrain_range(u, min=6, max=5)


def test_plain_numbers_are_checked_against_a_range() -> None:
    constrain_range(3, min=3, max=5)
    constrain_range(5, min=3, max=5)
    for number in (2, 6):
        with pytest.raises(ValueError, match=r"Invalid value .* for range \[3:5\]"):
            constrain_range(number, min=3, max=5)


def test_a_range_of_one_number_leaves_the_symbol(env: ShapeEnv) -> None:
    u = env.create_unbacked_symint()
    constrain_range(u, min=4, max=4)
    assert str(u + 1) == "u0 + 1" and not env.replacements
    assert bounds(u) == (4, 4) and statically_known_true(u == 4)
    a = size(env, 2, "a")
    constrain_range(a, min=1, max=2)
    assert a.node.expr.is_symbol


def test_a_number_that_is_known_is_checked_by_its_environment(env: ShapeEnv) -> None:
    env._constrain_range(4, 4, 4)
    for number in (3, 5):
        with pytest.raises(ValueRangeError, match="Invalid value"):
            env._constrain_range(number, 4, 4)


def test_a_size_is_not_negative_and_counts_as_at_least_two_when_asked_so(env: ShapeEnv) -> None:
    u, v = env.create_unbacked_symint(), env.create_unbacked_symint()
    _constrain_range_for_size(u, max=8)
    assert bounds(u) == (0, 8)
    assert guard_size_oblivious(u == 0) is False
    assert guard_size_oblivious(u >= 2) is True
    assert guard_or_false(v == 0) is False
    assert bounds(v)[0] < 0
    again = pickle.loads(pickle.dumps(env))
    assert {str(s) for s in again.size_like} == {str(u)}


@pytest.mark.parametrize(("given", "error"), [(3, AssertionError), (True, AssertionError)])
def test_only_symbols_are_sizes(given: Any, error: type) -> None:
    with pytest.raises(error, match="SymInt"):
        _constrain_range_for_size(given)


def test_only_whole_symbols_are_sizes(env: ShapeEnv) -> None:
    for number in (env.create_unbacked_symfloat(), env.create_unbacked_symbool()):
        with pytest.raises(ValueError, match="nyi"):
            _constrain_range_for_size(number)
    with pytest.raises(AssertionError, match="non-Symbols"):
        _constrain_range_for_size(env.create_unbacked_symint() + 1)


def test_two_numbers_are_made_one(env: ShapeEnv) -> None:
    u, v, w = (env.create_unbacked_symint() for _ in range(3))
    constrain_unify(u, v)
    assert statically_known_true(u == v)
    constrain_unify(6, w)
    assert statically_known_true(w == 6)
    assert not statically_known_true(u == 6)
    constrain_unify(4, 4)
    with pytest.raises(AssertionError, match="Expected 4 == 5"):
        constrain_unify(4, 5)


def test_sequences_are_equal_element_by_element(env: ShapeEnv) -> None:
    a = size(env, 3, "a")
    assert sym_eq((2, 3), [2, 3]) is True
    assert sym_eq((2, 3), (2, 3, 4)) is False
    assert sym_eq((2, 3), (2, 4)) is False
    assert statically_known_true(sym_eq([a, 2], [a, 2]))
    assert not statically_known_true(sym_eq([a, 2], [3, 2]))
    with pytest.raises(AssertionError, match="sym_eq"):
        sym_eq((2,), 2)


def test_what_is_one_number(env: ShapeEnv) -> None:
    a, u = size(env, 3, "a"), env.create_unbacked_symint()
    assert is_concrete_int(3) and not is_concrete_int(a)
    assert is_concrete_int(SymInt(a.node.wrap_int(4)))
    assert is_concrete_bool(True) and not is_concrete_bool(a == 4)
    with pytest.raises(AssertionError, match="Expected int"):
        is_concrete_int("3")
    assert has_static_value(2.5) and not has_static_value(u)
    constrain_range(u, min=4, max=4)
    assert has_static_value(u)
    with pytest.raises(AssertionError, match="number"):
        has_static_value("3")
    assert not is_nested_int(3) and not is_nested_int(a) and is_nested_int(_get_nested_int(1, 1))


def test_order_of_nested_ints() -> None:
    j = _get_nested_int(1, 1)
    assert j <= j * 2 and j < j * 2 and j * 2 >= j and j >= 2 and j >= j and j <= j
    assert not (j * 2 <= j or j * 2 < j or j >= j * 2 or j <= 1 or j > j or j < j)
    with pytest.raises(RuntimeError, match="indeterminate"):
        bool(j <= _get_nested_int(2, 1))


# ---- what a guard says of parts


@pytest.mark.parametrize(
    ("ask", "known"),
    [
        (lambda a, b: a + b <= 10, {"a": (2, 8), "b": (2, 8)}),
        (lambda a, b: a * b <= 20, {"a": (2, 10), "b": (2, 10)}),
        (lambda a, b: a * 3 <= 20, {"a": (2, 6)}),
        (lambda a, b: a * -3 >= -20, {"a": (2, 6)}),
        (lambda a, b: a // 4 <= 2, {"a": (2, 11)}),
        (lambda a, b: a // 4 >= 1, {"a": (4, int_oo)}),
        (lambda a, b: sym_max(a, b) <= 7, {"a": (2, 7), "b": (2, 7)}),
        (lambda a, b: sym_min(a, b) >= 3, {"a": (3, int_oo), "b": (3, int_oo)}),
        (lambda a, b: a > b, {"a": (3, int_oo)}),
        (lambda a, b: a != 2, {"a": (3, int_oo)}),
        (lambda a, b: a == 5, {"a": (5, 5)}),
    ],
)  # fmt: skip
def test_a_guard_narrows_the_symbols_in_it(env: ShapeEnv, ask: Any, known: Any) -> None:
    numbers = {"a": size(env, 5, "a"), "b": size(env, 4, "b")}
    assert bool(ask(numbers["a"], numbers["b"]))
    for name, expected in known.items():
        assert bounds(numbers[name]) == expected, name


def test_numbers_that_are_ruled_out_are_skipped_one_after_the_other(env: ShapeEnv) -> None:
    a = size(env, 7, "a")
    for number in (3, 2, 4):
        assert bool(a != number)
    assert bounds(a) == (5, int_oo)
    assert statically_known_true(a != 3)


def test_a_replacement_keeps_the_narrower_range(env: ShapeEnv) -> None:
    a, b = size(env, 6, "a"), size(env, 6, "b")
    env._update_var_to_range(a.node.expr, ValueRanges(2, 9))
    env._update_var_to_range(b.node.expr, ValueRanges(4, 12))
    assert bool(a == b)
    assert bounds(a) == bounds(b) == (4, 9)


def test_a_range_that_leaves_nothing_is_refused(env: ShapeEnv) -> None:
    u = env.create_unbacked_symint()
    constrain_range(u, min=2, max=4)
    for low, high in ((5, 9), (-3, 1)):
        with pytest.raises(Exception, match="Invalid ranges"):
            constrain_range(u, min=low, max=high)
    assert bounds(u) == (2, 4)
