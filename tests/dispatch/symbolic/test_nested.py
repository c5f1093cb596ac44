"""Nested ints and constant nodes: what is known of them without any run."""

import pytest

from dispatch.fake import FakeTensorMode
from dispatch.symbolic import ShapeEnv, SymBool, SymInt, _get_constant_bool_symnode, _get_nested_int


def test_a_nested_int_equals_itself_and_is_at_least_two() -> None:
    j, other = _get_nested_int(1, 1), _get_nested_int(2, 1)
    assert j == _get_nested_int(1, 1)
    assert j != other
    assert (j >= 2, j < 2, j > 1, j == 5) == (True, False, True, False)
    assert hash(j) == hash(_get_nested_int(1, 1))
    with pytest.raises(RuntimeError, match="indeterminate"):
        bool(j > 5)


def test_a_nested_int_is_multiplied_by_numbers() -> None:
    j = _get_nested_int(1, 1)
    assert repr(j * 3) == "3*j1"
    assert j * 3 > j
    assert isinstance(j * 3, SymInt)
    with pytest.raises(RuntimeError, match="plain numbers"):
        j * j


def test_a_constant_truth_value_is_what_it_is() -> None:
    yes = SymBool(_get_constant_bool_symnode(True))
    assert bool(yes)
    assert yes.node.is_constant()


def test_nested_int_refuses_arithmetic_by_name() -> None:
    j = _get_nested_int(1, 1)
    for name, call in (("add", lambda: j + 3), ("int_floordiv", lambda: j // 2)):
        with pytest.raises(RuntimeError, match=f"{name} not supported by NestedIntSymNode"):
            call()


def test_symbol_of_a_nested_int() -> None:
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env) as mode:
        j = mode.create_symbolic_nested_int()
        k = mode.create_symbolic_nested_int()
    again = mode.create_symbolic_nested_int(nt_tensor_id=j.node.hint.node.nested_int())
    assert j.node.is_symbolic()
    assert j.node.is_nested_int()
    assert str(again) == str(j)
    assert j != k
    assert (j * 2).node.hint == j.node.hint * 2
    with pytest.raises(AssertionError):
        mode.create_symbolic_nested_int()
