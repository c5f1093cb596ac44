"""Graphs in parts: by numbers, by tags, by what a backend takes."""

import operator

import pytest

import dispatch
from dispatch.as_torch import fx
from dispatch.as_torch.fx.passes import fusing, partitions, splits, support, tags
from dispatch.as_torch.nn import modules


class Net(modules.Module):
    def __init__(self):
        super().__init__()
        self.inner = modules.Sequential(modules.Linear(4, 4))
        self.bias = modules.Linear(1, 4, bias=False).weight

    def forward(self, x, y=2):
        return dispatch.relu(self.inner(x) + self.bias[:, 0]) * y


X = dispatch.arange(8.0).view(2, 4)


def split(root, place, **settings):
    traced = fx.symbolic_trace(root)
    made = splits.split_module(traced, root, place, **settings)
    made.graph.lint()
    assert made(X).equal(traced(X))
    return made


def by_name(node):
    return {"inner_0": 0, "relu": 2, "mul": 2}.get(node.name, 1)


def test_parts_are_modules_that_are_called_in_order():
    names = {}
    made = split(Net(), by_name, qualname_map=names)
    assert [name for name, _ in made.named_children()] == ["submod_0", "submod_1", "submod_2"]
    assert names == {"submod_0.inner_0": "inner.0"}
    assert made.meta["partition_names"] == {"submod_0", "submod_1", "submod_2"}
    assert [n.name for n in made.submod_1.graph.nodes] == [
        "bias", "inner_0", "getitem", "add", "output",
    ]  # fmt: skip
    assert made(X, 3).equal(made(X) * 1.5)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"partition_affix": "a"}, "submod_a_0"), ({"keep_original_order": True}, "submod_0"),
        ({"keep_original_node_name": True}, "submod_0"), ({"tuple_return": True}, "submod_0"),
        ({"keep_original_input_name": False}, "submod_0"),
    ],
)  # fmt: skip
def test_parts_are_named_and_give_as_asked(settings, name):
    part = getattr(split(Net(), by_name, **settings), name)
    result = part.graph.output_node().args[0]
    assert isinstance(result, tuple) is settings.get("tuple_return", False)
    inputs = [n.name for n in part.graph.find_nodes(op="placeholder")]
    assert inputs == (["arg_0"] if "keep_original_input_name" in settings else ["x"])


def test_parts_that_need_each_other_are_refused():
    program = fx.symbolic_trace(lambda x: dispatch.relu(x).neg().sin())
    with pytest.raises(RuntimeError, match="cycle"):
        splits.split_module(program, program, lambda node: node.name == "neg")
    assert repr(splits.Partition("0")).startswith("name: 0,\n nodes: []")


def tagged(**places):
    traced = fx.symbolic_trace(Net())
    for node in traced.graph.nodes:
        if node.op.startswith("call"):
            node.tag = places.get(node.name, "b")
    return traced


def test_tags_name_parts():
    traced = tagged(inner_0="a")
    made, names = tags.split_by_tags(traced, ["a", "b"], return_fqn_mapping=True)
    assert made(X, 2).equal(traced(X)) and names == {"inner.0": "a.inner.0", "bias": "b.bias"}
    assert [n.name for n in made.a.graph.nodes] == ["x", "inner_0", "output"]
    whole = tags.split_by_tags(traced, ["a", "b"], return_tuple=True)
    assert isinstance(whole.a(X), tuple) and whole(X, 2).equal(traced(X))
    with pytest.raises(AssertionError, match="upstream"):
        tags.split_by_tags(traced, ["b", "a"])
    del next(iter(traced.graph.find_nodes(op="call_module"))).tag
    with pytest.raises(AssertionError, match="does not have tag"):
        tags.split_by_tags(traced, ["a", "b"])


def test_attributes_are_found_and_set_by_path():
    root = modules.Module()
    root.items = modules.ModuleList([modules.Linear(1, 1)])
    assert tags.getattr_recursive(root, "items.0.bias").shape == (1,)
    assert tags.getattr_recursive(root, "items.1") is None
    assert tags.getattr_recursive(root, "other.x") is None
    tags.setattr_recursive(root, "items.size", 3)
    assert root.items.size == 3


def test_graphs_are_compared_by_what_they_do():
    programs = (lambda x: x + 1, lambda y: y + 1, lambda z: z + 2)
    graphs = [fx.symbolic_trace(program).graph for program in programs]
    assert tags.compare_graphs(graphs[0], graphs[1])
    assert not tags.compare_graphs(graphs[0], graphs[2])


# ---- what a backend takes

TAKES = support.create_op_support(
    lambda submodules, node: node.target in (operator.add, operator.getitem)
)


def parts_of(program, **settings):
    traced = fx.symbolic_trace(program)
    partitioner = partitions.CapabilityBasedPartitioner(traced, TAKES, **settings)
    found = partitioner.propose_partitions()
    names = [[node.name for node in part.nodes] for part in found]
    fused = partitioner.fuse_partitions(found)
    fused.graph.lint()
    return names, fused


def test_a_part_does_not_come_back_to_itself():
    def program(x):
        first = x + 1
        second = first + 2
        return (second.relu() + first) + second

    names, fused = parts_of(program)
    assert names == [["add_2", "add_3"], ["add", "add_1"]] or names == [
        ["add", "add_1"], ["add_2", "add_3"],
    ]  # fmt: skip
    assert fused(X).equal(program(X))
    assert {type(m).__name__ for m in fused.children()} == {"fused_0", "fused_1"}


def test_parts_side_by_side_are_one_unless_they_must_touch():
    def program(x):
        return x + 1, x + 2

    assert parts_of(program)[0] == [["add", "add_1"]]
    assert parts_of(program, skip_horizontal_fusion=True)[0] == []
    alone, fused = parts_of(
        program, skip_horizontal_fusion=True, allows_single_node_partition=True
    )
    assert sorted(alone) == [["add"], ["add_1"]]
    assert [t.tolist() for t in fused(X)] == [t.tolist() for t in program(X)]


def test_items_are_where_their_tuple_is():
    names, _ = parts_of(lambda x: x.split(1)[0] + 1, allows_single_node_partition=True)
    assert names == [["add"]]


def test_ends_that_do_not_compute_go():
    traced = fx.symbolic_trace(lambda x: operator.neg((-(x + 1)) + 1))
    takes = support.create_op_support(lambda submodules, node: node.op == "call_function")
    partitioner = partitions.CapabilityBasedPartitioner(
        traced, takes, non_compute_ops=["_operator.neg"]
    )
    found = partitioner.propose_partitions()
    partitioner.remove_bookend_non_compute_ops(found)
    assert [[n.name for n in part.nodes] for part in found] == [["add", "neg", "add_1"]]


def test_nodes_that_cannot_run_at_once_are_not_fused():
    traced = fx.symbolic_trace(lambda x: (x + 1).relu() + x)
    nodes = {node.name: node for node in traced.graph.nodes}
    ends = [nodes["add"], nodes["add_1"]]
    assert not fusing.validate_partition(ends)
    assert fusing.validate_partition([nodes["add"], nodes["relu"]])
    with pytest.raises(AssertionError, match="dependency cycles"):
        fusing.fuse_as_graphmodule(traced, ends, "fused")
    assert fusing.topo_sort([nodes["relu"], nodes["add"]]) == [nodes["add"], nodes["relu"]]
    with pytest.raises(AssertionError, match="not in the graph"):
        fusing.fuse_as_graphmodule(fx.symbolic_trace(lambda x: x), ends, "fused")


def test_a_table_says_targets_and_dtypes():
    traced = fx.symbolic_trace(lambda x: dispatch.relu(x))
    fx.shapes.ShapeProp(traced).propagate(X)
    (call,) = traced.graph.find_nodes(op="call_function", target=dispatch.relu)
    name = support.get_node_target({}, call)
    answers = [
        support.OperatorSupport(table).is_node_supported({}, call)
        for table in ({}, {name: None}, {name: (((dispatch.float32,),), {})},
                      {name: (((dispatch.int64,),), {})})
    ]  # fmt: skip
    assert answers == [False, True, True, False]
    no_floats = support.OpSupports.decline_if_input_dtype(dispatch.float32)
    others = support.OpSupports.decline_if_node_in_names({"sin"})
    assert not support.chain(no_floats, others).is_node_supported({}, call)
    assert support.any_chain(no_floats, others).is_node_supported({}, call)
