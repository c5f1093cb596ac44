"""`plan`: names become slots, arguments templates; liveness; mistakes with their place."""

import json

import pytest

import dispatch
from dispatch.graph.errors import ModelFileError
from dispatch.graph.plan import Const, DeviceConst, Items, Slot, plan_graph, report_name
from dispatch.graph.program import read_program
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, tensor


def plan(content):
    program = read_program(json.dumps(content).encode(), "f")
    return plan_graph(program.graph_module.graph, "f", "graph_module.graph")


def plan_nodes(nodes, outputs=(), inputs=("x",), **symbols):
    return plan(programs.program(programs.graph(inputs, outputs, nodes, {}, **symbols), [], []))


def test_report_name():
    assert report_name("torch.ops.aten.add.Tensor") == "aten::add.Tensor"
    assert report_name("torch.ops.aten.mm.default") == "aten::mm"
    assert report_name("_operator.mul") == "_operator::mul"
    assert report_name("torch.ops.higher_order.cond") == "higher_order::cond"


def test_steps_and_liveness():
    found = plan(programs.add_relu())
    assert found.slot_names == ("x", "y", "sum", "act", "out")
    assert found.n_inputs == 2
    assert [s.op for s in found.steps] == ["aten::add.Tensor", "aten::relu", "aten::mul.Tensor"]
    assert found.steps[0].args == (Slot(0), Slot(1))
    assert found.steps[2].args == (Slot(3), Const(2))
    assert [s.frees for s in found.steps] == [(), (2,), (3,)]
    assert found.last_use == (3, 3, 1, 2, 3)
    assert found.outputs == (Slot(4),)
    assert found.steps[0].callee is dispatch.ops.aten.add.Tensor


def test_arguments_after_a_gap_go_by_name():
    inputs = [
        ("size", {"as_ints": [2]}),
        ("device", {"as_device": {"type": "cuda", "index": 1}}),
        ("dtype", {"as_scalar_type": 5}),
        ("memory_format", {"as_memory_format": 2}),
    ]
    (step,) = plan_nodes([node("aten.empty.memory_format", inputs, ["e"])]).steps
    assert step.args[0] == Const((2,))
    assert dict(zip(step.kwnames, step.args[1:], strict=True)) == {
        "device": DeviceConst("cuda:1"),
        "dtype": Const(dispatch.int64),
        "memory_format": Const(dispatch.channels_last),
    }


def test_a_factory_without_a_device_can_still_be_moved():
    (step,) = plan_nodes([node("aten.ones.default", [("size", {"as_ints": [2]})], ["o"])]).steps
    assert step.kwnames == ("device",)
    assert step.args[1] == DeviceConst(None)


def test_lists_with_names_in_them_are_made_for_each_call():
    indices = {"as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "x"}}]}
    shape = {"as_sym_ints": [as_int(-1), {"as_name": "s"}]}
    symbols = {"s": programs.symbol("s0", 4)}
    nodes = [
        node(
            "aten.sym_size.int",
            [("self", tensor("x")), ("dim", as_int(0))],
            [{"as_sym_int": {"as_name": "s"}}],
        ),
        node("aten.index.Tensor", [("self", tensor("x")), ("indices", indices)], ["i"]),
        node("aten.view.default", [("self", tensor("x")), ("size", shape)], ["v"]),
    ]
    found = plan_nodes(nodes, **symbols)
    assert found.steps[1].args[1] == Items((Const(None), Slot(0)))
    assert found.steps[2].args[1] == Items((Const(-1), Slot(1)))


def test_outputs_of_each_kind():
    nodes = [
        node("aten.max.dim", [("self", tensor("x")), ("dim", as_int(0))], ["v", "i"]),
        node(
            "aten.split.Tensor",
            [("self", tensor("x")), ("split_size", as_int(1))],
            [{"as_tensors": [{"name": "a"}, {"name": "b"}]}],
        ),
        node("aten._assert_tensor_metadata.default", [("a", tensor("x"))], [], name="check"),
    ]
    found = plan_nodes(nodes)
    assert [s.outputs for s in found.steps] == [(1, 2), (3, 4), None]
    assert [s.node for s in found.steps] == ["v", "a", "check"] or found.steps[2].node == "check"


def test_missing_operators_are_collected():
    nodes = [
        node("nolib.some_op.default", [("self", tensor("x"))], ["a"]),
        node("aten.add.NoSuchOverload", [("self", tensor("a"))], ["b"]),
        node("_operator.import_module", [("a", as_int(1))], ["c"]),
        node("higher_order.while_loop", [("", tensor("b"))], ["d"]),
        node("nolib.some_op.default", [("self", tensor("a"))], ["e"]),
        node("aten.__class__.mro", [("self", tensor("a"))], ["f"]),
    ]
    assert plan_nodes(nodes).missing == (
        "nolib::some_op",
        "aten::add.NoSuchOverload",
        "_operator::import_module",
        "higher_order::while_loop",
        "aten::__class__.mro",
    )


RELU = [("self", tensor("x"))]


@pytest.mark.parametrize(
    ("nodes", "outputs", "place", "problem"),
    [
        (
            [node("aten.relu.default", [("self", tensor("y"))], ["a"])],
            [],
            "nodes[0].inputs[0].arg",
            "'y' is used before it is defined",
        ),
        (
            [node("aten.relu.default", [("self", tensor("a"))], ["a"])],
            [],
            "nodes[0].inputs[0].arg",
            "'a' is used before",
        ),
        (
            [node("aten.relu.default", RELU, ["x"])],
            [],
            "nodes[0].outputs[0]",
            "'x' is defined twice",
        ),
        ([node("aten.relu.default", RELU, ["a"])], ["b"], "outputs[0]", "'b' is used before"),
        (
            [node("aten.relu.default", [("other", tensor("x"))], ["a"])],
            [],
            "nodes[0].inputs[0].name",
            "'other' is no argument of aten::relu(Tensor self)",
        ),
        (
            [node("aten.relu.default", RELU * 2, ["a"])],
            [],
            "nodes[0]",
            "given twice",
        ),
        (
            [
                node(
                    "aten.ones.default",
                    [
                        ("size", {"as_ints": []}),
                        ("device", {"as_device": {"type": "fridge", "index": None}}),
                    ],
                    ["a"],
                )
            ],
            [],
            "nodes[0].inputs[1].arg",
            "no such device",
        ),
        (
            [
                node(
                    "aten.relu.default",
                    [("self", {"as_custom_obj": {"name": "o", "class_fqn": "c"}})],
                    ["a"],
                )
            ],
            [],
            "nodes[0].inputs[0].arg",
            "not supported",
        ),
    ],
)
def test_mistakes_name_their_place(nodes, outputs, place, problem):
    with pytest.raises(ModelFileError) as caught:
        plan_nodes(nodes, outputs)
    assert str(caught.value).startswith(f"f: graph_module.graph.{place}: ")
    assert problem in str(caught.value)


def test_a_mistake_in_a_branch_names_the_branch():
    body = programs.graph(
        ["t"], ["r"], [node("aten.sin.default", [("self", tensor("u"))], ["r"])], {}
    )
    good = programs.graph(["t"], ["t"], [], {})
    inputs = [
        ("", tensor("x")),
        ("", {"as_graph": {"name": "yes", "graph": good}}),
        ("", {"as_graph": {"name": "no", "graph": body}}),
        ("", {"as_tensors": [{"name": "x"}]}),
    ]
    where = r"nodes\[0\]\.inputs\[2\]\.arg\.as_graph\.graph\.nodes\[0\]\.inputs\[0\]\.arg"
    with pytest.raises(ModelFileError, match=where):
        plan_nodes([node("higher_order.cond", inputs, ["c"])])


def test_a_loop_that_carries_numbers_is_not_run():
    one = {"as_graph": {"name": "g", "graph": programs.graph(["t"], ["t"], [], {})}}
    for carried, missing in [("as_tensors", ()), ("as_ints", ("higher_order::while_loop",))]:
        given = [{"name": "x"}] if carried == "as_tensors" else [1]
        inputs = [("", one), ("", one), ("", {carried: given}), ("", {"as_tensors": []})]
        assert plan_nodes([node("higher_order.while_loop", inputs, ["c"])]).missing == missing


def test_a_loop_has_as_many_operands_as_its_graphs_take():
    one = {"as_graph": {"name": "g", "graph": programs.graph(["t"], ["t"], [], {})}}
    both = {"as_tensors": [{"name": "x"}]}
    inputs = [("", one), ("", one), ("", both), ("", both)]
    with pytest.raises(ModelFileError, match=r"while_loop: graph 'g' takes 1 operands, given 2"):
        plan_nodes([node("higher_order.while_loop", inputs, ["c"])])


def test_unused_metadata_is_not_needed():
    assert plan_nodes([], ["x"]).outputs == (Slot(0),)
    assert meta([2])["strides"] == [{"as_int": 1}]
