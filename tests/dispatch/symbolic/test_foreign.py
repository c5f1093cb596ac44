"""Sizes of one ShapeEnv brought into another, by a fake tensor that another mode takes."""

from typing import Any

import pytest

from dispatch import FakeTensorMode, ones
from dispatch.symbolic import ConstantSource, DimDynamic, ShapeEnv, StatelessSymbolicContext


@pytest.fixture
def modes() -> Any:
    return tuple(FakeTensorMode(shape_env=ShapeEnv()) for _ in range(2))


def dynamic(mode: Any, *kinds: DimDynamic) -> Any:
    context = StatelessSymbolicContext(list(kinds))
    return mode.from_tensor(ones(4, 6), symbolic_context=context, source=ConstantSource("x"))


def test_sizes_keep_their_hints_and_numbers_stay_numbers(modes: Any) -> None:
    here, there = modes
    x = dynamic(here, DimDynamic.DYNAMIC, DimDynamic.STATIC)
    y = there.from_tensor(x, source=ConstantSource("y"))
    assert y.fake_mode is there
    size, columns = y.shape
    assert (size.node.shape_env, size.node.hint) == (there.shape_env, 4)
    assert (columns, y.stride()) == (6, (6, 1))
    assert here.shape_env.guards == there.shape_env.guards == []


def test_a_context_says_what_becomes_of_sizes(modes: Any) -> None:
    here, there = modes
    x = dynamic(here, DimDynamic.DYNAMIC, DimDynamic.DYNAMIC)
    context = StatelessSymbolicContext([DimDynamic.STATIC, DimDynamic.DYNAMIC])
    y = there.from_tensor(x, symbolic_context=context, source=ConstantSource("y"))
    assert y.shape[0] == 4
    assert isinstance(y.shape[0], int)
    assert str(y.stride()) == f"({y.shape[1]}, 1)"


def test_sizes_of_data_are_symbols_of_data_and_strides_follow(modes: Any) -> None:
    here, there = modes
    with here:
        found = dynamic(here, DimDynamic.DYNAMIC, DimDynamic.STATIC).nonzero()
        grid = found.new_zeros((found.shape[0], found.shape[0], found.shape[0] * 2))
    there.shape_env.create_unbacked_symint()
    here.shape_env.var_to_hint_override[found.shape[0].node.expr] = 7
    moved = there.from_tensor(found, source=ConstantSource("y"))
    count, two = moved.shape
    assert (str(count), two, str(moved.stride())) == ("u1", 2, "(1, u1)")
    assert (count.node.shape_env, count.node.has_hint()) == (there.shape_env, False)
    assert there.shape_env.var_to_hint_override == {count.node.expr: 7}
    moved = there.from_tensor(grid, source=ConstantSource("z"))
    assert str(tuple(moved.shape)) == "(u2, u2, 2*u2)"
    assert str(moved.stride()) == "(Max(1, u2)*Max(1, 2*u2), Max(1, 2*u2), 1)"


def test_what_stands_in_no_size_is_a_new_symbol(modes: Any) -> None:
    here, there = modes
    with here:
        count = dynamic(here, DimDynamic.DYNAMIC, DimDynamic.STATIC).nonzero().shape[0]
        x = dynamic(here, DimDynamic.STATIC, DimDynamic.STATIC)
        step = here.shape_env.create_unbacked_symint()
        strided = x.new_empty(0).as_strided((count, 2), (step, 1), step)
    y = there.from_tensor(strided, source=ConstantSource("y"))
    assert (str(tuple(y.shape)), str(y.stride()), str(y.storage_offset())) == (
        "(u0, 2)",
        "(u1, 1)",
        "u2",
    )
