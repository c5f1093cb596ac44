"""Operators with side effects: what `with_effects` returns, whom it refuses, tokens of the mode."""

from collections.abc import Iterator
from typing import Any

import pytest

import dispatch
from dispatch import library, ops
from dispatch._higher_order_ops.effects import (
    EffectType,
    _get_effect,
    _register_effectful_op,
    handle_effects,
    has_effects,
    with_effects,
)
from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.functional import FunctionalTensor, FunctionalTensorMode
from dispatch.library import Library


@pytest.fixture
def log() -> Iterator[list[str]]:
    """The operators `told::say`, `told::shout`, `told::two` (with effects) and `told::write`."""
    said: list[str] = []
    lib = Library("told", "DEF")
    lib.define("say(Tensor x) -> Tensor")
    lib.define("shout(str s) -> ()")
    lib.define("two(Tensor x) -> (Tensor, Tensor)")
    lib.define("write(Tensor(a!) x) -> ()")
    lib.impl("say", lambda x: (said.append("say"), x + 1)[1], "CompositeExplicitAutograd")
    lib.impl("shout", said.append, "CompositeExplicitAutograd")
    lib.impl("two", lambda x: (x + 1, x + 2), "CompositeExplicitAutograd")
    names = ("say", "shout", "two", "write")
    handles = [_register_effectful_op(f"told::{name}", EffectType.ORDERED) for name in names]
    yield said
    for handle in handles:
        handle.destroy()
    lib._destroy()


def token() -> dispatch.Tensor:
    return dispatch.tensor([])


def test_results_come_behind_the_token(log: list[str]) -> None:
    one = with_effects(token(), ops.told.say.default, dispatch.ones(2))
    assert [tuple(t.shape) for t in one] == [(0,), (2,)]
    assert with_effects(token(), ops.told.shout.default, "hi")[1:] == (None,)
    assert len(with_effects(token(), ops.told.two.default, dispatch.ones(1))) == 3
    assert log == ["say", "hi"]


@pytest.mark.usefixtures("log")
def test_what_writes_has_no_effects() -> None:
    assert has_effects(ops.told.say.default)
    assert not has_effects(ops.told.write.default) and not has_effects(ops.aten.add.Tensor)
    with pytest.raises(AssertionError, match="Ops with aliasing is not supported"):
        with_effects(token(), ops.told.write.default, dispatch.ones(1))
    with pytest.raises(AssertionError, match="expected an operator"):
        with_effects(token(), 3, dispatch.ones(1))  # type: ignore[arg-type]


@pytest.mark.usefixtures("log")
def test_effect_is_declared_until_the_handle_is_destroyed() -> None:
    handle = _register_effectful_op(ops.aten.sin.default, EffectType.ORDERED)
    assert has_effects(ops.aten.sin.default)
    handle.destroy()
    assert not has_effects(ops.aten.sin.default)
    with pytest.raises(ValueError, match="name"):
        _register_effectful_op(3, EffectType.ORDERED)


@pytest.mark.usefixtures("log")
def test_fake_tensors_have_fake_tokens() -> None:
    with FakeTensorMode():
        made = with_effects(token(), ops.told.say.default, dispatch.ones(2))
    assert all(isinstance(t, FakeTensor) for t in made)


def test_calls_are_chained_by_their_token(log: list[str]) -> None:
    tokens: dict[Any, Any] = {}
    first = handle_effects(True, tokens, ops.told.say.default, (dispatch.ones(2),), {})
    before = tokens[EffectType.ORDERED]
    assert first.tolist() == [2.0, 2.0]
    assert handle_effects(False, tokens, ops.told.shout.default, ("hi",), {}) is None
    assert len(handle_effects(False, tokens, ops.told.two.default, (dispatch.ones(1),), {})) == 2
    assert tokens[EffectType.ORDERED] is not before and log == ["say", "hi"]


@pytest.mark.usefixtures("log")
def test_mode_without_discovery_wants_a_token() -> None:
    with FunctionalTensorMode():
        x = FunctionalTensor.to_functional(dispatch.ones(2))
        with pytest.raises(AssertionError, match="no token"):
            ops.told.say.default(x)


def test_an_effect_is_declared_by_the_library_and_ends_with_it():
    with library._scoped_library("declares_effects", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> ()")
        op = dispatch.ops.declares_effects.f.default
        library._register_effectful_op("declares_effects::f", EffectType.ORDERED, lib=lib)
        assert _get_effect(op) is EffectType.ORDERED
    assert _get_effect(op) is None
    for wrong in (3, None):
        with pytest.raises(ValueError, match="register_effectful_op"):
            library._register_effectful_op(wrong, EffectType.ORDERED)
