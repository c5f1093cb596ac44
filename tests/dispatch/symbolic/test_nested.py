"""Nested ints and constant nodes: what is known of them without any run."""

import pytest

from dispatch.symbolic import SymBool, SymInt, _get_constant_bool_symnode, _get_nested_int


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
