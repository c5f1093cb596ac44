"""SymInt, SymFloat and SymBool as numbers, and nodes that are not ours inside them."""

import math
from typing import Any

import pytest

from dispatch.symbolic import (
    ShapeEnv,
    SymBool,
    SymFloat,
    SymInt,
    SymNode,
    _check,
    _sym_sqrt,
    sym_int,
    sym_ite,
    sym_max,
    sym_min,
    sym_not,
    sym_sum,
)
from dispatch.symbolic.numbers import watch

from .making import size


@pytest.fixture
def a() -> Any:
    return size(ShapeEnv(), 4, "a")


def test_a_remainder_with_floats_is_a_float(a: Any) -> None:
    rest = 3.25 % a
    assert (str(rest), rest.node.hint) == (f"Mod(3.25, ToFloat({a}))", 3.25)
    assert (str(math.trunc(rest)), math.trunc(rest).node.hint) == (f"TruncToInt({rest})", 3)
    bounds = a.node.shape_env.bound_sympy((a % 2.5).node.expr)
    assert (bounds.lower, bounds.upper) == (0.0, 2.5)


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (lambda a: a / 2, SymFloat, 2.0),
        (lambda a: a + 0.5, SymFloat, 4.5),
        (lambda a: 3 // a, SymInt, 0),
        (lambda a: 2**a, SymInt, 16),
        (lambda a: a**-1, SymFloat, 0.25),
        (lambda a: a // 1.5, SymFloat, 2.0),
        (lambda a: divmod(7, 2)[0] + a, SymInt, 7),
        (lambda a: math.floor(a / 3), SymInt, 1),
        (lambda a: math.ceil(a / 3), SymInt, 2),
        (lambda a: round(a / 3, 1), SymFloat, 1.3),
        (lambda a: sym_int(a / 3), SymInt, 1),
        (lambda a: _sym_sqrt(a), SymFloat, 2.0),
        (lambda a: a & 6, SymInt, 4),
        (lambda a: a << 2, SymInt, 16),
        (lambda a: sym_max(a, 4.5), SymFloat, 4.5),
        (lambda a: sym_sum([a, 1, a]), SymInt, 9),
        (lambda a: sym_ite(a > 3, a, 1 + a), SymInt, 4),
        (lambda a: sym_not(a > 3), SymBool, False),
        (lambda a: (a / 2).is_integer(), SymBool, True),
    ],
)
def test_operation_has_pythons_type_and_value(a: Any, make: Any, kind: type, hint: Any) -> None:
    made = make(a)
    assert type(made) is kind
    assert (made.node.hint, type(made.node.hint)) == (hint, type(hint))


def test_symbolic_numbers_serve_as_numbers(a: Any) -> None:
    assert list(range(a)) == [0, 1, 2, 3]
    assert [7, 8, 9, 10, 11][a] == 11
    assert float(a) == 4.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


class Plus:
    """A node of somebody else's."""

    def __init__(self, number: int) -> None:
        self.number = number

    def is_int(self) -> bool:
        return True

    def is_float(self) -> bool:
        return False

    def is_bool(self) -> bool:
        return False

    def is_constant(self) -> bool:
        return False

    def wrap_int(self, number: int) -> "Plus":
        return Plus(number)

    def add(self, other: "Plus") -> "Plus":
        return Plus(self.number + other.number)

    def guard_int(self, file: str, line: int) -> int:
        return self.number

    def _graph_repr(self) -> str:
        return f"plus {self.number}"


def test_a_node_that_is_not_ours_does_its_own_arithmetic() -> None:
    made = SymInt(Plus(3)) + 4
    assert repr(made) == "plus 7"
    assert repr(5 + made) == "plus 12"


class Constant:
    """A node of somebody else's that is a plain number."""

    def is_constant(self) -> bool:
        return True

    def guard_int(self, file: str, line: int) -> int:
        return 3

    def guard_float(self, file: str, line: int) -> float:
        return 3.5

    def guard_bool(self, file: str, line: int) -> int:
        return 1


def test_a_constant_of_somebody_else_is_computed_with_as_its_number() -> None:
    for kind, number in ((SymInt, 3), (SymFloat, 3.5), (SymBool, True)):
        for found in (kind(Constant()) + 1, 1 + kind(Constant())):
            assert (found, type(found)) == (number + 1, type(number + 1))


def test_whole_numbers_have_the_methods_of_floats(a: Any) -> None:
    root = a.__sym_sqrt__()
    assert isinstance(root, SymFloat)
    assert str(root) == f"OpaqueUnaryFn_sqrt({a})"
    assert str(a.__float_truediv__(2)) == f"FloatTrueDiv({a}, 2)"


def test_what_data_decide_has_no_hint_though_a_check_says_the_number(a: Any) -> None:
    env = a.node.shape_env
    u, v = env.create_unbacked_symint(), env.create_unbacked_symint()
    _check(u == 9)
    _check(v == a)
    assert (str(u), str(v)) == ("9", str(a))
    for x in (u, v):
        assert (x.node.hint, x.node.has_hint()) == (None, False)
    assert int(u) == 9


def test_a_node_made_by_hand_is_as_good(a: Any) -> None:
    node = SymNode(a.node.expr + 1, a.node.shape_env, int)
    assert node.add(node.wrap_int(2)).hint == 7
    assert SymInt(node) == 5


def test_contiguity_is_a_condition(a: Any) -> None:
    one = a.node.wrap_int(1)
    assert str(a.node.is_contiguous([a.node, a.node], [a.node, one])) == "True"
    assert not a.node.is_contiguous([a.node, a.node], [one, a.node]).bool_()


@pytest.mark.parametrize("truth", [lambda a: True, lambda a: a > 3, lambda a: a > a])
def test_only_conditions_equal_conditions(a: Any, truth: Any) -> None:
    for number in (1, 0, 2, a // 3):
        if isinstance(truth(a), SymBool) or isinstance(number, SymInt):
            assert str((truth(a) == number).node.expr) == "False"
            assert truth(a) != number
    assert str((a == truth(a)).node.expr) == f"Eq({a}, {truth(a)})"  # a symbol may be anything
    assert not a.node.shape_env.guards


@pytest.mark.parametrize(
    ("operate", "error"),
    [
        (lambda a, p: a // p, TypeError),
        (lambda a, p: p // a, TypeError),
        (lambda a, p: a % p, TypeError),
        (lambda a, p: p % a, TypeError),
        (lambda a, p: a % (a < 3), ZeroDivisionError),
        (lambda a, p: a % False, ZeroDivisionError),
        (lambda a, p: a // False, ZeroDivisionError),
        (lambda a, p: a // True, TypeError),
        (lambda a, p: True % a, TypeError),
        (lambda a, p: a / p, TypeError),
        (lambda a, p: (a * 1.5) / p, TypeError),
        (lambda a, p: p << a, TypeError),
        (lambda a, p: True >> a, TypeError),
        (lambda a, p: p & 2, TypeError),
    ],
)
def test_conditions_are_no_operands_of_divisions(a: Any, operate: Any, error: Any) -> None:
    with pytest.raises(error):
        operate(a, a > 3)
    assert not a.node.shape_env.guards


def test_conditions_take_one_and_zero_for_truth_values(a: Any) -> None:
    p = a > 3
    assert [str(x) for x in (p & 1, p & 0, p | 0, 1 | p)] == [str(p), "False", str(p), "True"]
    assert (str(True / a), isinstance(a / True, SymFloat)) == (f"IntTrueDiv(True, {a})", True)


def test_only_a_symbol_is_unbacked_or_not(a: Any) -> None:
    env = a.node.shape_env
    u = env.create_unbacked_symint()
    assert env.is_unbacked_symint(u.node.expr) and not env.is_unbacked_symint(a.node.expr)
    with pytest.raises(AssertionError, match="expected a symbol"):
        env.is_unbacked_symint((u + 1).node.expr)


@pytest.mark.parametrize("other", [lambda a: True, lambda a: a > 3])
def test_truth_values_are_not_compared_with_whole_numbers(a: Any, other: Any) -> None:
    for function in (sym_max, sym_min):
        with pytest.raises(ValueError, match="is not comparable"):
            function(a, other(a))
    assert isinstance(sym_max(a / 2, True), SymFloat)


def test_who_watches_is_told_of_whole_numbers_as_such(a: Any) -> None:
    told: list[Any] = []
    before = watch(lambda name, operands, found: told.append((name, operands, type(found))))
    try:
        a - a * 2
    finally:
        watch(before)
    assert [(name, kind) for name, _, kind in told] == [("mul", SymInt), ("sub", SymInt)]
    assert all(isinstance(x, (SymInt, int)) for _, operands, _ in told for x in operands)
