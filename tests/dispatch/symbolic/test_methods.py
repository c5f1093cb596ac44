"""Tables of methods, ints that ask to be symbolic, and what numbers refuse."""

import math
import pickle
from typing import Any

import pytest

from dispatch.symbolic import ShapeEnv, SymBool, SymFloat, SymInt, SymNode, sym_float
from dispatch.symbolic.methods import (
    DynamicInt,
    bitwise_ops,
    bool_magic_methods,
    magic_methods,
    method_to_operator,
    only_float_magic_methods,
    unary_methods,
)

from .making import size


@pytest.mark.parametrize("name", sorted(set(magic_methods) - bool_magic_methods))
def test_operator_of_a_method_gives_what_it_gives_on_numbers(name: str) -> None:
    env = ShapeEnv()
    apply = method_to_operator(name)
    a: Any = 1 if name in ("sym_acos", "sym_asin") else 6
    others = [] if name in unary_methods or name == "round" else [2]
    symbolic = size(env, 6, "a") - (6 - a)
    if name in only_float_magic_methods:
        a, symbolic = float(a), sym_float(symbolic)
    found = apply(symbolic, *others)
    assert isinstance(found, (SymInt, SymFloat, SymBool))
    assert (bool(found) if isinstance(found, SymBool) else found) == apply(a, *others)


def test_tables_know_each_other() -> None:
    assert unary_methods - {"sym_int"} <= set(magic_methods)
    assert set(bitwise_ops) <= set(magic_methods)


@pytest.mark.parametrize("name", ["lshift", "rshift", *bitwise_ops])
def test_shifts_and_bits_refuse_floats(name: str) -> None:
    a = size(ShapeEnv(), 6, "a")
    for args in ((a, 2.0), (2.0, a), (a, sym_float(a)), (sym_float(a), a)):
        with pytest.raises(TypeError):
            method_to_operator(name)(*args)


def test_arithmetic_of_a_dynamic_int_gives_one() -> None:
    w, x, y, z = map(DynamicInt, (-1, 0, 1, 2))
    for found, wanted in (
        (2 * y + z, 4), ((10 - z) // 2, 4), (1 // z, 0), (-w + w**2, 2), (x % z, 0), (1 << z, 4),
        (z | y, 3), (min(y, z), 1), (abs(w), 1), (math.floor(z), 2), (~x, -1),
    ):  # fmt: skip
        assert isinstance(found, DynamicInt)
        assert found == wanted
    assert type(z / 2) is float
    assert type(z * 1.5) is float
    assert type(z**-1) is float
    assert z.real == 2
    assert repr(pickle.loads(pickle.dumps(z))) == "DynamicInt(2)"
    with pytest.raises(ZeroDivisionError):
        y % x
    with pytest.raises(AssertionError):
        DynamicInt(1.5)  # type: ignore[arg-type]


def test_truth_value_of_a_number() -> None:
    env = ShapeEnv()
    yes, no = (SymBool(SymNode(x, env, bool, hint=bool(x))) for x in (1, 0))
    assert (yes & yes, yes & no, no | yes) == (True, False, True)
