"""Passes that change graphs, and what runs them."""

import logging
import operator
from typing import NamedTuple

import pytest

import dispatch
from dispatch.as_torch import fx
from dispatch.as_torch.fx import marks
from dispatch.as_torch.fx.passes import (
    folding,
    managers,
    normalizing,
    older,
    optimizing,
    order,
    rewriting,
    same,
    sizes,
    sources,
)  # fmt: skip
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.as_torch.nn import modules

aten = dispatch.ops.aten
X = dispatch.arange(8.0).view(2, 4)


class Renames(managers.PassBase):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def call(self, graph_module):
        found = graph_module.graph.find_nodes(op="call_function", target=self.old)
        for node in found:
            node.target = self.new
        return managers.PassResult(graph_module, bool(found))


def test_passes_run_until_nothing_changes():
    manager = managers.PassManager(
        [Renames(dispatch.sin, dispatch.cos), Renames(dispatch.relu, dispatch.sin)], steps=5
    )
    result = manager(fx.symbolic_trace(lambda x: dispatch.relu(x)))
    assert result.modified and "torch.cos" in result.graph_module.code.replace("dispatch", "torch")
    assert not manager(result.graph_module).modified


def test_a_failed_pass_is_named():
    def fails(module):
        raise KeyError("x")

    manager = managers.PassManager([managers.pass_result_wrapper(fails)])
    with pytest.raises(Exception, match="running the 'fails' pass"):
        manager(None)
    with pytest.raises(TypeError, match="one variable"):
        manager.add_checks(lambda a, b: None)
    with pytest.raises(Exception, match="pass"):
        managers.PassManager([lambda module: 3])(None)


def test_passes_are_brought_into_an_order():
    a, b, c = (lambda x: managers.PassResult(x, False) for _ in range(3))
    before = managers.this_before_that_pass_constraint
    manager = managers.PassManager([a, b, c], [before(c, a), before(a, b)])
    with pytest.raises(RuntimeError, match="violated"):
        manager.validate_constraints()
    manager.solve_constraints()
    assert manager.passes == [c, a, b]
    manager.add_constraint(before(b, c))
    with pytest.raises(RuntimeError, match="Circular"):
        manager.solve_constraints()


def test_older_passes_are_functions_of_what_was_before(caplog):
    def more(x):
        return x + 1

    manager = older.PassManager.build_from_passlist([more, older.loop_pass(more, n_iter=3)])
    assert manager(0) == 4
    manager.replace_pass(more, lambda x: 10)
    assert manager(0) == 10
    manager.remove_pass(["<lambda>"])
    assert manager(5) == 5
    assert older.loop_pass(more, predicate=lambda x: x < 7)(0) == 7
    with caplog.at_level(logging.INFO):
        older.log_hook(more)(1)
    assert "Return value: 2" in caplog.text
    manager.add_pass(more)
    manager.add_constraint(older.these_before_those_pass_constraint(more, more))
    assert manager(1) == 2
    with pytest.raises(AssertionError, match="Exactly one"):
        older.loop_pass(more)


def test_calls_that_are_alike_become_one():
    module = make_fx(lambda x: x.cos() + x.cos() * 1 + x * 1.0)(X)
    result = same.CSEPass()(module)
    assert result.modified and result.graph_module(X).equal(module(X))
    graph = result.graph_module.graph
    assert len(graph.find_nodes(op="call_function", target=aten.cos.default)) == 1
    assert not same.CSEPass()(result.graph_module).modified
    drawn = make_fx(lambda x: dispatch.rand_like(x) + dispatch.rand_like(x))(X)
    assert not same.CSEPass(same.get_CSE_banned_ops())(drawn).modified


class Constant(modules.Module):
    def __init__(self):
        super().__init__()
        self.a = modules.Linear(4, 1, bias=False).weight
        self.b = modules.Linear(4, 1, bias=False).weight

    def forward(self, x):
        return x * (self.a + self.b) - (self.b - 1)


def test_constants_are_computed_once():
    module = Constant()
    folded = folding.split_const_subgraphs(module)
    assert [n.target for n in folded.graph.nodes if n.op == "call_function"] == [
        operator.getitem, operator.getitem, operator.mul, operator.sub,
    ] or len(folded.graph.nodes) < 9  # fmt: skip
    assert folded(X).equal(module(X)) and folded.has_folding_been_run
    with pytest.raises(AssertionError, match="already"):
        folded.run_folding()
    assert folding.get_unique_attr_name_in_module(module, "a") == "a_1"
    plain = folding.split_const_subgraphs(module, lambda node: node.op == "call_function")
    assert plain.const_subgraph_module is None and plain(X).equal(module(X))


def test_a_folded_constant_says_what_its_node_said():
    module = fx.symbolic_trace(Constant())
    for node in module.graph.nodes:
        node.meta["name"] = node.name
    folded = folding.split_const_subgraphs(module, lambda node: node.name == "sub")
    (kept,) = folded.graph.find_nodes(op="get_attr", target="_FX_CONST_FOLDED_ATTRS")
    assert kept.meta["name"] == "add"


def test_norms_go_into_the_layers_before_them():
    module = modules.Sequential(
        modules.Linear(4, 3), modules.BatchNorm1d(3), modules.Dropout(), modules.ReLU()
    ).eval()
    fused = optimizing.fuse(module)
    assert [n.target for n in fused.graph.find_nodes(op="call_module")] == ["0", "2", "3"]
    assert dispatch.allclose(fused(X), module(X), atol=1e-6)
    bare = optimizing.remove_dropout(fused)
    assert [n.target for n in bare.graph.find_nodes(op="call_module")] == ["0", "3"]
    nodes = list(bare.graph.nodes)
    part = optimizing.extract_subgraph(bare, nodes[2:3], nodes[1:2], nodes[2:3])
    assert part(X - 4)[0].equal(dispatch.relu(X - 4))


def test_a_layer_without_a_bias_gets_one_of_its_type():
    layer = modules.Conv2d(1, 2, 1, bias=False, dtype=dispatch.bfloat16)
    linear = modules.Linear(2, 2, bias=False, dtype=dispatch.bfloat16)
    for one, norm in ((layer, modules.BatchNorm2d(2)), (linear, modules.BatchNorm1d(2))):
        (fused,) = optimizing.fuse(modules.Sequential(one, norm).eval()).children()
        assert fused.bias.dtype == dispatch.bfloat16


def test_calls_get_all_their_arguments_by_name():
    traced = fx.symbolic_trace(modules.Sequential(modules.Linear(4, 4), fx.symbolic_trace(
        lambda x: dispatch.sum(x, 1, keepdim=True))))  # fmt: skip
    fx.shapes.ShapeProp(traced).propagate(X)
    named = normalizing.NormalizeArgs(traced).transform()
    calls = {n.op: n.kwargs for n in named.graph.nodes if n.op.startswith("call")}
    assert list(calls["call_module"]) == ["input"]
    assert named(X).equal(traced(X))
    plain = normalizing.NormalizeOperators(
        fx.symbolic_trace(lambda x: dispatch.add(x, 1) + dispatch.add(x, x, alpha=2))
    ).transform()
    targets = [n.target for n in plain.graph.nodes if n.op == "call_function"]
    assert targets == [operator.add, dispatch.add, operator.add]


def test_asserts_and_annotations_of_sources_are_nodes():
    class Checks(modules.Module):
        def forward(self, x, n):
            y: int = n
            assert x.shape[0] == y, "rows"
            return x + y

    tracer = rewriting.RewritingTracer()
    names = {"annotate": rewriting.annotate}
    globals().update(names)  # what is annotated calls it
    graph = tracer.trace(Checks())
    module = fx.GraphModule(tracer.root, graph)
    assert next(n for n in graph.nodes if n.name == "n").type is int
    with pytest.raises(AssertionError, match="rows"):
        module(X, 3)
    with pytest.raises(RuntimeError, match="already"):
        fx.symbolic_trace(lambda x: rewriting.annotate(rewriting.annotate(x, int), int))


def test_texts_of_several_lines_may_stand_at_the_margin_of_what_is_rewritten():
    class Checked(modules.Module):
        def forward(self, x, y):
            text = """
at the margin"""
            assert x == y, text
            return x

    traced = rewriting.RewritingTracer().trace(Checked())
    (call,) = traced.find_nodes(op="call_function", target=dispatch._assert)
    assert call.args[1] == "\nat the margin"


def test_orders_are_mended_or_refused():
    traced = fx.symbolic_trace(lambda x: dispatch.relu(x).neg())
    nodes = list(traced.graph.nodes)
    nodes[0].append(nodes[2])
    for mends in (order.legalize_graph, order.stable_topological_sort):
        mends(traced).graph.lint()
    relu, neg = (n for n in traced.graph.nodes if n.op.startswith("call"))
    relu.args = (neg,)
    with pytest.raises(RuntimeError, match="cycles"):
        order.legalize_graph(traced)
    with pytest.raises(AssertionError, match="cycles"):
        order.stable_topological_sort(traced)


def test_bytes_of_results_and_parameters():
    traced = fx.symbolic_trace(modules.Sequential(modules.Linear(4, 5), modules.ReLU()))
    with pytest.raises(RuntimeError, match="ShapeProp"):
        sizes.get_size_of_all_nodes(traced)
    sizes.get_size_of_all_nodes(traced, [X])
    found = [n.size_bytes for n in traced.graph.nodes if n.op == "call_module"]
    assert found == [(40, 140), (40, 40)]
    sizes.replace_target_nodes_with(traced, "call_module", "1", "call_function", dispatch.tanh)
    assert "tanh" in traced.code


def test_nodes_are_found_by_where_they_come_from():
    graph = fx.Graph()
    x = graph.placeholder("x")
    calls = [graph.call_function(dispatch.relu, (x,))]
    calls.append(graph.call_function(dispatch.neg, (calls[0],)))
    graph.output(calls[1])
    calls[0].meta["source_fn_stack"] = [("relu", modules.ReLU)]
    calls[1].meta["nn_module_stack"] = {"n": ("place", modules.Tanh)}
    found = sources.get_source_partitions(graph, [modules.ReLU, modules.Module])
    (first,), (second,) = found[modules.ReLU], found[modules.Module]
    assert first.input_nodes == [x] and first.output_nodes == calls[:1]
    assert sources.check_subgraphs_connected(first, second)
    assert not sources.check_subgraphs_connected(second, first)
    assert sources.get_source_partitions(graph, [modules.ReLU], lambda n: False) == {
        modules.ReLU: []
    }


class Named(NamedTuple):
    count: int
    value: dispatch.Tensor


def test_items_of_annotated_values_have_their_types():
    def program(t: tuple[int, str], many: tuple[int, ...], rows: list[str], named: Named):
        return t[1], many[5], rows[0], named[1]

    graph = fx.symbolic_trace(program).graph
    marks.annotate_getitem_nodes(graph)
    found = [n.type for n in graph.find_nodes(op="call_function", target=operator.getitem)]
    assert found == [str, int, str, dispatch.Tensor]


def test_texts_for_logs_are_made_when_they_are_read():
    module = fx.symbolic_trace(lambda x: x + 1)
    text = str(marks.lazy_format_graph_code("before", module))
    assert "===== before =====" in text and "x + 1" in text
    node = next(n for n in module.graph.nodes if n.op == "call_function")
    assert len(marks.get_node_context(node, 5).splitlines()) == 2
    assert marks.first_call_function_nn_module_stack(module.graph) is None
