"""Settings that environments heed: each as PyTorch's answers are under it."""

import logging

import pytest

import dispatch
from dispatch.fake import FakeTensorMode
from dispatch.symbolic import (
    PendingUnbackedSymbolNotFound,
    ShapeEnv,
    compute_unbacked_bindings,
    config,
    guard_or_false,
    guard_or_true,
)


def sizes(*shape):
    """(an environment, symbolic sizes of a tensor of that shape)"""
    env = ShapeEnv()
    return env, FakeTensorMode(shape_env=env).from_tensor(dispatch.ones(shape)).shape


def test_equal_sizes_are_one_symbol_unless_the_setting_says_so():
    assert len(set(map(str, sizes(4, 4)[1]))) == 1
    with config.patch("use_duck_shape", False):
        env, shape = sizes(4, 4)
        assert len(set(map(str, shape))) == 2 and not env.duck_shape
        assert ShapeEnv(duck_shape=True).duck_shape


def test_oblivious_sizes_may_be_zero_and_one_and_make_no_guards():
    with config.patch(backed_size_oblivious=True):
        env, (one, none, three) = sizes(1, 0, 3)
        symbols = {n.node.expr for n in (one, none, three)}
        assert env.size_like == symbols
        assert all(env.var_to_range[s].lower == 0 for s in symbols)
        assert not guard_or_false(three == 3) and guard_or_true(three == 3)
        assert env.guards == []
        assert three == 3 and len(env.guards) == 1
    env, shape = sizes(1, 0, 3)
    assert tuple(shape[:2]) == (1, 0) and env.size_like == set()
    assert guard_or_false(shape[2] == 3) and len(env.guards) == 1


def test_a_symbol_with_more_guards_than_allowed_becomes_its_number():
    with config.patch({"symbol_guard_limit_before_specialize": 2}):
        env, (size,) = sizes(7)
        assert size > 4 and size <= 9
        assert list(env.symbol_guard_counter.values()) == [2] and str(size) != "7"
        assert size * 2 % 3 == 2
    kinds = [str(guard.expr).partition("(")[0] for guard in env.guards]
    assert kinds[2:] == ["Eq", "Eq"] and str(size) == "7"


def test_a_symbol_that_is_nowhere_is_told_to_the_log(caplog):
    env = ShapeEnv()
    env.create_unbacked_symint()
    with config.patch(soft_pending_unbacked_not_found_error=True), caplog.at_level(logging.WARNING):
        assert compute_unbacked_bindings(env, dispatch.ones(2)) == {}
    assert "not in returned outputs" in caplog.text
    env.create_unbacked_symint()
    with pytest.raises(PendingUnbackedSymbolNotFound):
        compute_unbacked_bindings(env, dispatch.ones(2))


@pytest.mark.parametrize("name", ["nothing", "contextlib", "patch", "_x"])
def test_what_is_no_setting_is_refused(name):
    with (
        pytest.raises(AttributeError, match=f"dispatch.symbolic.config has no setting '{name}'"),
        config.patch({"use_duck_shape": False, name: 1}),
    ):
        raise AssertionError("not reached")
    assert config.use_duck_shape


def test_settings_of_a_decorated_function():
    @config.patch(use_duck_shape=False)
    def made():
        return ShapeEnv().duck_shape

    assert not made() and not made() and ShapeEnv().duck_shape
