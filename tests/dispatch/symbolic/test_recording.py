"""ShapeEnvs that record what changed them, and others brought to the same state."""

from typing import Any

import pytest

from dispatch import FakeTensorMode, empty, nonzero
from dispatch.symbolic import LocalSource, ShapeEnv, TrackedFake, _check, constrain_range
from dispatch.symbolic.recording import (
    FakeTensorMeta,
    NotEqualError,
    ShapeEnvEvent,
    record_shapeenv_event,
    replay_shape_env_events,
    shape_env_check_state_equal,
)

from .making import size


def run(env: ShapeEnv) -> None:
    """Symbols of all kinds, guards, asserts, ranges."""
    a, b = size(env, 6, "a"), size(env, 9, "b")
    u = env.create_unbacked_symint()
    assert a * 2 > b
    _check(u >= 0)
    constrain_range(u, min=0, max=50)
    _check(u + a <= 100)
    assert int(b) == 9
    x = FakeTensorMode(shape_env=env).from_tensor(empty(6, 5), source=LocalSource("x"))
    assert x.shape[0] != x.shape[1]
    nonzero(x)


def names(env: ShapeEnv) -> list[str]:
    return [e.name or "ShapeEnv" for e in env.events]


def test_an_environment_is_brought_to_the_state_of_another() -> None:
    env = ShapeEnv(should_record_events=True, specialize_zero_one=False)
    run(env)
    other = replay_shape_env_events(env.events)
    env.check_equal(other)
    assert [str(g.expr) for g in other.guards] == [str(g.expr) for g in env.guards]
    assert not other.should_record_events


def test_an_event_is_what_a_program_did_and_not_what_follows_from_it() -> None:
    env = ShapeEnv(should_record_events=True)
    a = size(env, 6, "a")
    assert [bool(c) for c in (a > 3, a > 3, a > 2)] == [True, True, True]
    assert names(env) == ["ShapeEnv", "create_symbol", "evaluate_expr"]
    assert env.events[2].is_evaluate_expr()
    assert str(env.events[2]).startswith("event: evaluate_expr (")


def test_a_call_that_fails_is_no_event() -> None:
    env = ShapeEnv(should_record_events=True)
    u = env.create_unbacked_symint()
    with pytest.raises(ValueError, match="can't be less"):
        env._constrain_range_for_size(u.node.expr, 5, 3)
    assert names(env) == ["ShapeEnv", "create_unbacked_symint"]


def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    env = ShapeEnv()
    run(env)
    assert not hasattr(env, "events")
    assert "create_symbol" not in vars(env)


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda env: size(env, 4, "c"), "backed_var_to_val"),
        (lambda env: env.freeze(), "frozen"),
        (lambda env: _check(env.create_unbacked_symint() > 3), "deferred_runtime_asserts"),
        (lambda env: bool(size(env, 7, "a") > 3), "guards"),
    ],
)
def test_environments_differ_by_what_they_know(change: Any, what: str) -> None:
    one, other = ShapeEnv(), ShapeEnv()
    one.check_equal(other)
    change(one)
    with pytest.raises(NotEqualError, match=rf"(?s)ShapeEnv not equal.*==> {what}: values don't"):
        one.check_equal(other)
    with pytest.raises(NotEqualError, match="settings"):
        other.check_equal(ShapeEnv(duck_shape=False))


def test_what_is_named_does_not_count() -> None:
    one, other = ShapeEnv(duck_shape=False), ShapeEnv()
    shape_env_check_state_equal(one, other, ("settings",), lambda name, value: value)


def test_a_method_of_ones_own_is_recorded() -> None:
    class Env(ShapeEnv):
        @record_shapeenv_event(name="mine", save_tracked_fakes=True)
        def method(self, a: Any) -> Any:
            return self.create_unbacked_symint() + a

    fake = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(empty(3, 4))
    env = Env(should_record_events=True, tracked_fakes=[TrackedFake(fake, LocalSource("x"), None)])
    env.method(2)
    assert names(env) == ["ShapeEnv", "mine"]
    (kept,) = env.events[1].tracked_fakes or ()
    assert isinstance(kept.fake, FakeTensorMeta)
    assert kept.fake.size() == fake.size()
    assert kept.fake.dim() == 2
    with pytest.raises(AssertionError, match="should only wrap methods"):
        record_shapeenv_event()(lambda x: x)


def test_environments_are_not_mixed() -> None:
    class Env(ShapeEnv):
        @record_shapeenv_event()
        def method(self, a: Any) -> None:
            pass

    env = Env(should_record_events=True)
    with pytest.raises(AssertionError, match="different ShapeEnv"):
        env.method(size(ShapeEnv(), 5, "a"))
    with pytest.raises(AssertionError, match="First event must be"):
        replay_shape_env_events([ShapeEnvEvent(Env.method)])
    with pytest.raises(AssertionError, match="needs the ShapeEnv"):
        ShapeEnvEvent(Env.method, [env]).run()
