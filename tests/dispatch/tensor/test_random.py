"""Generators: seeds, states that can be put back, and their place in schemas."""

import pytest

import dispatch


def test_same_seed_gives_the_same_stream() -> None:
    first = dispatch.Generator().manual_seed(3)
    second = dispatch.Generator().manual_seed(3)
    assert first.numpy.random(4).tolist() == second.numpy.random(4).tolist()
    assert first.initial_seed() == 3


def test_state_can_be_put_back() -> None:
    generator = dispatch.Generator().manual_seed(1)
    state = generator.get_state()
    drawn = generator.numpy.random(3).tolist()
    assert generator.set_state(state).numpy.random(3).tolist() == drawn


def test_manual_seed_seeds_the_default_generator() -> None:
    assert dispatch.manual_seed(5) is dispatch.default_generator
    assert dispatch.default_generator.initial_seed() == 5
    with pytest.raises(ValueError, match="64 bits"):
        dispatch.manual_seed(1 << 64)


def test_operators_take_generators_and_nothing_else() -> None:
    target = dispatch.zeros(2, device="meta")
    dispatch.ops.aten.normal_.default(target, generator=dispatch.Generator())
    with pytest.raises(RuntimeError, match="generator"):
        dispatch.ops.aten.normal_.default(target, generator=3)
