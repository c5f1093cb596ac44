"""What backends ask: attributes of layers, types of results, products that become one."""

import pytest

import dispatch
from dispatch.as_torch.fx import symbolic_trace
from dispatch.as_torch.fx.code import _PyTreeCodeGen, _PyTreeInfo
from dispatch.as_torch.fx.marks import (
    _BACK_COMPAT_OBJECTS,
    _MARKED_WITH_COMPATIBILITY,
    compatibility,
)
from dispatch.as_torch.fx.passes import lowering
from dispatch.as_torch.fx.patterns import SubgraphMatcherWithNameNodeMap
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.as_torch.fx.tensor_types import Dyn, TensorType, is_consistent, is_more_precise
from dispatch.as_torch.fx.traceback import annotate_fn, preserve_node_meta
from dispatch.as_torch.nn import functional
from dispatch.as_torch.nn.modules import Conv2d, Dropout, Linear, Sequential
from dispatch.pytree import tree_structure


def test_attributes_of_layers_are_on_the_nodes_that_call_them():
    traced = symbolic_trace(Sequential(Conv2d(3, 3, 2)))
    lowering.lift_lowering_attrs_to_nodes(traced)
    (node,) = traced.graph.find_nodes(op="call_module", target="0")
    assert node.attrs_for_lowering["kernel_size"] == (2, 2) and len(node.attrs_for_lowering) == 9
    with pytest.raises(RuntimeError, match="Dropout"):
        lowering.extract_attrs_for_lowering(Dropout())


def test_nodes_get_the_types_that_functions_say():
    typed = lowering.AnnotateTypesWithSchema(
        symbolic_trace(lambda x: functional.relu(x) + 1)
    ).transform()
    assert [n.type for n in typed.graph.nodes] == [None, dispatch.Tensor, None, None]
    typed = lowering.AnnotateTypesWithSchema(symbolic_trace(Sequential(Linear(2, 2)))).transform()
    assert [n.type for n in typed.graph.nodes] == [None, dispatch.Tensor, None]


def test_products_with_one_right_side_become_one():
    def f(x, y, w):
        return dispatch.matmul(x, w), dispatch.matmul(y, w)

    args = dispatch.randn(2, 3), dispatch.randn(4, 3), dispatch.randn(3, 5)
    merged = lowering.merge_matmul(f)
    assert len(merged.graph.find_nodes(op="call_function", target=dispatch.matmul)) == 1
    for one, other in zip(merged(*args), f(*args), strict=True):
        assert dispatch.allclose(one, other, atol=1e-6)


def test_products_of_products_stay():
    merged = lowering.merge_matmul(lambda x, w: dispatch.matmul(dispatch.matmul(x, w), w))
    assert len(merged.graph.find_nodes(op="call_function", target=dispatch.matmul)) == 2


def test_types_of_sizes():
    assert TensorType[2, Dyn] == TensorType((2, Dyn)) and repr(Dyn) == "Dyn"
    assert is_consistent(TensorType((1, Dyn)), TensorType((Dyn, 2)))
    assert not is_consistent(TensorType((1,)), TensorType((2,)))
    assert is_more_precise(TensorType((1, 2)), TensorType((1, Dyn)))
    assert not is_more_precise(TensorType((1, Dyn)), TensorType((1, 2)))


def test_functions_annotate_the_nodes_they_make():
    @annotate_fn({"stage": 1})
    def f(x):
        return x.sin()

    with preserve_node_meta():
        gm = make_fx(lambda x: f(x).cos())(dispatch.ones(1))
    assert [n.meta.get("custom") for n in gm.graph.nodes][1:3] == [{"stage": 1}, None]


def test_promises_are_remembered():
    def kept():
        pass

    assert compatibility(True)(kept) is kept
    assert kept in _BACK_COMPAT_OBJECTS and kept in _MARKED_WITH_COMPATIBILITY
    del _BACK_COMPAT_OBJECTS[kept], _MARKED_WITH_COMPATIBILITY[kept]


def test_a_pattern_names_the_nodes_that_are_matched():
    def pattern(x):
        s = x.sin()
        return s.cos(), {"inner": s}

    gm = symbolic_trace(pattern)
    spec = tree_structure((0, {"inner": 0}))
    (output,) = gm.graph.find_nodes(op="output")
    value, names = output.args[0]
    output.args = ([value, names["inner"]],)
    gm.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(["x"], tree_structure(((0,), {})), spec)))
    gm.recompile()
    matcher = SubgraphMatcherWithNameNodeMap(gm, ignore_literals=True)
    (match,) = matcher.match(symbolic_trace(lambda x: (x + 1).sin().cos() * 2).graph)
    assert match.name_node_map["inner"].target == "sin"
    with pytest.raises(AssertionError, match="dictionary"):
        SubgraphMatcherWithNameNodeMap(gm)
