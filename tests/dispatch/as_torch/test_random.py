"""`torch.random.fork_rng`: what is drawn in the block leaves the generators as they were."""

import types

import pytest

import dispatch
from dispatch.as_torch import random


def test_numbers_go_on_as_if_nothing_had_been_drawn():
    dispatch.manual_seed(3)
    first = dispatch.rand(2).tolist()
    dispatch.manual_seed(3)
    with pytest.raises(KeyError), random.fork_rng():
        dispatch.manual_seed(4)
        dispatch.rand(5)
        raise KeyError
    assert dispatch.rand(2).tolist() == first


@pytest.mark.parametrize("options", [{"enabled": False}, {"device_type": "meta"}])
def test_what_keeps_nothing_lets_draw(options):
    before = dispatch.get_rng_state()
    with random.fork_rng(**options):
        dispatch.rand(1)
    assert not dispatch.equal(dispatch.get_rng_state(), before)


def test_generators_of_a_program_s_device_are_kept_by_its_module(monkeypatch):
    states = {0: "a", 1: "b"}
    module = types.SimpleNamespace(
        device_count=lambda: 2, get_rng_state=states.get,
        set_rng_state=lambda state, device: states.update({device: state}),
    )  # fmt: skip
    monkeypatch.setattr(random, "get_device_module", lambda kind: module)
    with random.fork_rng(device_type="privateuseone"):
        states.update({0: "x", 1: "y"})
    assert states == {0: "a", 1: "b"}
    with random.fork_rng([1], device_type="privateuseone"):
        states.update({0: "x", 1: "y"})
    assert states == {0: "x", 1: "b"}
