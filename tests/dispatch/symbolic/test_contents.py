"""What symbols are in values."""

import pytest

import dispatch
from dispatch.fake import FakeTensorMode
from dispatch.symbolic import (
    GuardOnDataDependentSymNode,
    ShapeEnv,
    constrain_range,
    free_symbols,
    free_unbacked_symbols,
    guarding_hint_or_throw,
    has_free_symbols,
    has_free_unbacked_symbols,
    optimization_hint,
)

from .making import size


def test_symbols_are_found_in_nests() -> None:
    env = ShapeEnv()
    a, u = size(env, 4, "a"), env.create_unbacked_symint()
    assert free_symbols([a + 1, (u, 3)]) == {a.node.expr, u.node.expr}
    assert free_unbacked_symbols([a, u * a]) == {u.node.expr}
    assert (has_free_symbols((1, 2.5)), has_free_unbacked_symbols(a)) == (False, False)
    assert not has_free_symbols("a")
    with pytest.raises(AssertionError, match="object"):
        free_symbols(object())


def test_hints_are_those_of_the_run() -> None:
    env = ShapeEnv()
    a, u = size(env, 4, "a"), env.create_unbacked_symint()
    assert guarding_hint_or_throw(a * 2) == 8
    assert (optimization_hint(u + a, 9), optimization_hint(5)) == (13, 5)
    assert (optimization_hint(u * 2), env.optimization_hint((u * 2).node.expr, 7)) == (16384, 14)
    constrain_range(u, min=0, max=9)
    assert (optimization_hint(u), optimization_hint(u * a, 3)) == (9, 12)
    env.var_to_hint_override[u.node.expr] = 6
    assert optimization_hint(u + a) == 10
    with pytest.raises(AssertionError, match="Expected int, got <class 'float'>"):
        optimization_hint(2.5)
    with pytest.raises(GuardOnDataDependentSymNode):
        guarding_hint_or_throw(u)


def test_tensor_says_whether_it_has_symbolic_sizes() -> None:
    x = dispatch.empty(5, 7)
    t = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(x)
    assert (t._has_symbolic_sizes_strides, x._has_symbolic_sizes_strides) == (True, False)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extreme_into_outputs_pins_no_size(name: str) -> None:
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    x, values = (mode.from_tensor(dispatch.empty(5, 7)) for _ in range(2))
    indices = mode.from_tensor(dispatch.empty(5, 7, dtype=dispatch.int64))
    getattr(dispatch, name)(x, 0, out=(values, indices))
    assert all(str(n) == str(m) for n, m in zip(values.shape, x.shape, strict=True))
    assert not any(isinstance(e.value, int) for e in env.replacements.values())
