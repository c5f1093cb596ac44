"""Graphs that are run again: what their nodes say of sizes that data decide."""

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.as_torch.fx.shapes import PropagateUnbackedSymInts
from dispatch.symbolic import ShapeEnv, compute_unbacked_bindings


def test_symbols_of_data_keep_their_names_when_a_graph_runs_again():
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    x = mode.from_tensor(dispatch.ones(4))
    traced = make_fx(lambda x: x.nonzero() + 1)(x)
    for node in traced.graph.nodes:
        found = compute_unbacked_bindings(env, node.meta.get("val"), peek=True)
        if node.target is dispatch.ops.aten.nonzero.default:
            node.meta["unbacked_bindings"] = found
    before = next(n for n in traced.graph.nodes if n.op == "output").args[0].meta["val"]
    with mode:
        again = PropagateUnbackedSymInts(traced).run(x)
    assert str(again.shape[0]) == str(before.shape[0]) == "u0"
    with pytest.raises(AssertionError, match="no fake mode"):
        PropagateUnbackedSymInts(traced).run(dispatch.ones(4))
