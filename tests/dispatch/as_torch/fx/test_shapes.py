"""Graphs that are run again: what their nodes say of sizes that data decide."""

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.as_torch.fx.shapes import FakeTensorProp, PropagateUnbackedSymInts
from dispatch.symbolic import ShapeEnv, statically_known_true


def test_symbols_of_data_keep_their_names_when_a_graph_runs_again():
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    x = mode.from_tensor(dispatch.ones(4))
    traced = make_fx(lambda x: x.nonzero() + 1)(x)
    before = next(n for n in traced.graph.nodes if n.op == "output").args[0].meta["val"]
    with mode:
        again = PropagateUnbackedSymInts(traced).run(x)
    assert str(again.shape[0]) == str(before.shape[0]) == "u0"
    with pytest.raises(AssertionError, match="no fake mode"):
        PropagateUnbackedSymInts(traced).run(dispatch.ones(4))


def test_nodes_say_which_symbols_of_data_they_made_and_a_second_run_gives_the_same():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    with mode:
        x = dispatch.ones(4)
        traced = make_fx(lambda x: x.nonzero())(x)
    [node] = traced.graph.find_nodes(op="call_function", target=dispatch.ops.aten.nonzero.default)
    before = node.meta["val"].shape[0]
    assert list(map(str, node.meta["unbacked_bindings"])) == ["u0"]
    FakeTensorProp(traced, mode).propagate(x)
    after = node.meta["val"].shape[0]
    assert after is not before and statically_known_true(after == before)
