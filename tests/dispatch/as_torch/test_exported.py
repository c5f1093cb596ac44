"""`torch.export.load`: a program's nodes, signature and weights, and the module that is called."""

import json
import operator
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dispatch
from dispatch import ops
from dispatch.as_torch.exported import load
from dispatch.as_torch.exported.signature import InputKind, OutputKind
from dispatch.as_torch.nn.parameter import Parameter
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, tensor
from tests.dispatch.graph.test_executor import cond

ROOT = Path(__file__).parents[3]
ENV = os.environ | {"PYTHONPATH": str(ROOT)}
EXAMPLE = ROOT / "examples" / "models" / "gpt2.pt2"
LEAF = {"type": None, "context": None, "children_spec": []}


def tree(kind, children, context="null"):
    return {"type": f"builtins.{kind}", "context": context, "children_spec": children}


def written(tmp_path, content, in_spec=None):
    if in_spec is not None:
        call = content["graph_module"]["module_call_graph"][0]["signature"]
        call["in_spec"] = json.dumps([1, in_spec])
    return load(programs.write_json(tmp_path / "m.json", content))


@pytest.fixture
def linear(tmp_path):
    return load(programs.linear_archive(tmp_path / "m.pt2"))


@pytest.fixture
def named(tmp_path):
    """f(pair, *, k): `pair` is a dict of two tensors, of which the sum with k is split."""
    values = {n: meta([2, 3]) for n in ("x", "y", "k", "sum", "all")} | {
        n: meta([1, 3]) for n in ("first", "second")
    }
    parts = {"as_tensors": [{"name": "first"}, {"name": "second"}]}
    nodes = [
        node("aten.add.Tensor", [("self", tensor("x")), ("other", tensor("y"))], ["sum"]),
        node("aten.add.Tensor", [("self", tensor("sum")), ("other", tensor("k"))], ["all"]),
        node(
            "aten.split.Tensor", [("self", tensor("all")), ("split_size", as_int(1))], [parts],
            "split",
        ),
    ]  # fmt: skip
    nodes[1]["metadata"] = {
        "nn_module_stack": "L__self__,,N.Net;L__self___a,a.b,N.Block",
        "stack_trace": 'File "net.py", line 3, in forward\n  a + b',
    }
    names = ["x", "y", "k"]
    body = programs.graph(names, ["first", "second"], nodes, values)
    content = programs.program(
        body,
        [programs.user_input(n) for n in names],
        [programs.user_output(n) for n in ("first", "second")],
    )
    pair = tree("dict", [LEAF, LEAF], '["a", "b"]')
    return written(
        tmp_path, content,
        tree("tuple", [tree("tuple", [pair]), tree("dict", [LEAF], '["k"]')]),
    )  # fmt: skip


def ones(*shape):
    return dispatch.ones(*shape)


def test_a_module_computes_and_the_program_is_not_called(linear):
    module = linear.module()
    (out,) = module(ones(2, 3))
    assert out.tolist() == [[12.0, 15.0, 18.0, 21.0]] * 2
    assert type(module).__name__ == "GraphModule"
    with pytest.raises(RuntimeError, match=r"use `exported_program\.module\(\)`"):
        linear(ones(2, 3))


def test_tensors_of_the_module_are_what_it_computes_with(linear):
    """In place, by `load_state_dict`, and as another parameter."""
    module = linear.module()
    assert [n for n, _ in module.named_parameters()] == ["w"]
    assert isinstance(linear.state_dict["w"], Parameter)
    with dispatch.no_grad():
        module.w.mul_(2)
    assert module(ones(2, 3))[0][0, 0].item() == 24
    module.load_state_dict({"w": ones(3, 4)})
    assert module(ones(2, 3))[0][0, 0].item() == 3
    module.w = Parameter(dispatch.zeros(3, 4))
    assert module(ones(2, 3))[0][0, 0].item() == 0


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_what_was_exported_does_not_change_its_mode(linear, mode):
    with pytest.raises(NotImplementedError, match=mode):
        getattr(linear.module(), mode)()


def test_arguments_are_nested_and_named_as_the_exported_ones(named):
    module = named.module()
    a, b, k = ones(2, 3), ones(2, 3) * 2, ones(2, 3) * 3
    for pair in ({"a": a, "b": b}, {"b": b, "a": a}):
        assert module(pair, k=k)[0].tolist() == [[6.0] * 3]
    for args, kwargs in [
        (({"a": a, "b": b}, k), {}),
        (({"a": a, "b": b},), {}),
        (([a, b],), {"k": k}),
        ((), {"pair": {"a": a, "b": b}, "k": k}),
    ]:
        with pytest.raises(ValueError, match=r"m\.json: "):
            module(*args, **kwargs)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (dispatch.ones(2, 4), AssertionError),
        (dispatch.ones(2, 3, 1), RuntimeError),
        (dispatch.ones(2, 3, dtype=dispatch.int64), RuntimeError),
    ],
)
def test_sizes_that_do_not_fit_are_assertions_and_types_are_not(linear, given, kind):
    with pytest.raises(kind, match="input x: ") as caught:
        linear.module()(given)
    assert type(caught.value) is kind


def test_nodes_are_in_the_order_of_a_run(named):
    """Each of several results is an item of the call that gives them."""
    found = [(n.op, n.name, n.target) for n in named.graph.nodes]
    assert found == [
        ("placeholder", "x", "x"),
        ("placeholder", "y", "y"),
        ("placeholder", "k", "k"),
        ("call_function", "sum", ops.aten.add.Tensor),
        ("call_function", "all", ops.aten.add.Tensor),
        ("call_function", "split", ops.aten.split.Tensor),
        ("call_function", "first", operator.getitem),
        ("call_function", "second", operator.getitem),
        ("output", "output", "output"),
    ]


def test_a_node_knows_its_neighbours(named):
    x, y, _, total, everything, split, first, *_, output = named.graph.nodes
    assert total.args == (x, y) and list(x.users) == [total]
    assert split.args == (everything, 1) and first.args == (split, 0)
    assert total.next is everything and everything.prev is total
    assert output.all_input_nodes == list(split.users)
    assert named.graph.find_nodes(op="call_function", target=ops.aten.split.Tensor) == [split]
    assert named.graph.output_node() is output and len(named.graph.nodes) == 9


def test_a_node_has_what_the_file_records(named):
    *_, everything = (n for n in named.graph.nodes if n.name == "all")
    value = everything.meta["val"]
    assert isinstance(value, dispatch.FakeTensor) and value.shape == (2, 3)
    stack = {"L__self__": ("", "N.Net"), "L__self___a": ("a.b", "N.Block")}
    assert everything.meta["nn_module_stack"] == stack
    assert everything.stack_trace.startswith('File "net.py"')


def test_a_graph_is_text(named):
    lines = str(named.graph).splitlines()
    assert lines[0] == "graph():"
    assert lines[4] == (
        "    %sum : [num_users=1] = call_function[target=dispatch.ops.aten.add.Tensor]"
        "(args = (%x, %y), kwargs = {})"
    )
    assert lines[7].startswith(
        "    %first : [num_users=1] = call_function[target=operator.getitem]"
    )
    assert lines[-1] == "    return (first, second)"


def test_open_sizes_are_symbols_in_nodes(tmp_path):
    program = written(tmp_path, programs.attention())
    (x,) = program.graph.find_nodes(op="placeholder", target="x")
    assert [str(s) for s in x.meta["val"].shape] == ["b", "s", "4"]


def test_branches_stand_before_their_call(tmp_path):
    choice = cond({"as_bool": True})
    body = programs.graph(["x"], ["c"], [choice], {n: meta([2]) for n in ("x", "c")})
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("c")])
    program = written(tmp_path, content)
    branches = program.graph.find_nodes(op="get_attr")
    assert [b.name for b in branches] == ["yes", "no"]
    inner = [n.target for n in branches[1].meta["graph"].nodes]
    assert inner == ["t", ops.aten.sin.default, "output"]
    (call,) = branches[0].users
    assert call.target is ops.higher_order.cond
    assert call.args[:3] == (True, *branches)


def test_the_signature_says_what_each_input_is_for(linear):
    signature = linear.graph_signature
    assert [(s.kind, s.target) for s in signature.input_specs] == [
        (InputKind.PARAMETER, "w"),
        (InputKind.USER_INPUT, None),
    ]
    assert [s.kind for s in signature.output_specs] == [OutputKind.USER_OUTPUT]
    assert (signature.user_inputs, signature.user_outputs) == (("x",), ("out",))
    assert dict(signature.inputs_to_parameters) == {"p_w": "w"}
    assert str(signature) == (
        "\n# inputs\np_w: PARAMETER target='w'\nx: USER_INPUT\n\n# outputs\nout: USER_OUTPUT\n"
    )


def test_an_archive_with_constants_and_its_text():
    program = load(EXAMPLE)
    assert len(list(program.parameters())) == len(program.graph_signature.parameters)
    assert not program.constants.keys() & program.state_dict.keys()
    text = str(program)
    assert text.startswith("ExportedProgram:\n    class GraphModule(dispatch.nn.Module):")
    assert text.endswith("Range constraints: {}\n")


def test_the_code_of_the_module_names_arguments_and_weights_as_the_exported_one(tmp_path):
    content = programs.linear()
    content["verifiers"] = ["ATEN"]
    call = content["graph_module"]["module_call_graph"][0]["signature"]
    call |= {"forward_arg_names": ["hidden"], "inputs": [tensor("x")]}
    call["out_spec"] = json.dumps([1, tree("tuple", [LEAF])])
    program = written(
        tmp_path, content, tree("tuple", [tree("tuple", [LEAF]), tree("dict", [], "[]")])
    )
    lines = program.module().code.strip().splitlines()
    assert lines[0] == "def forward(self, hidden):"
    assert lines[2] == "    w = self.w" and "(x, w)" in lines[3]
    assert "self.w" in str(program.module()) and program.dialect == "ATEN"
    (entry,) = program.module_call_graph
    assert entry.fqn == "" and [a.name for a in entry.signature.inputs] == ["x"]
    assert entry.signature.in_spec == program.call_spec.in_spec
    program.validate()


@pytest.mark.parametrize(
    ("dialect", "left"), [("ATEN", ["first"]), ("TRAINING", ["first", "second"])]
)
def test_items_that_nobody_uses_stay_in_the_code_of_training_programs(tmp_path, dialect, left):
    values = {n: meta([2, 3]) for n in ("x", "first", "second")}
    parts = {"as_tensors": [{"name": "first"}, {"name": "second"}]}
    split = node(
        "aten.split.Tensor", [("self", tensor("x")), ("split_size", as_int(1))], [parts], "split"
    )
    body = programs.graph(["x"], ["first"], [split], values)
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("first")])
    program = written(tmp_path, content | {"verifiers": [dialect]})
    items = program.module().graph.find_nodes(op="call_function", target=operator.getitem)
    assert [n.name for n in items] == left


def test_parameters_and_nodes_require_grad_as_they_were_recorded(tmp_path):
    for wanted in (False, True):
        content = programs.linear()
        content["graph_module"]["graph"]["tensor_values"]["p_w"]["requires_grad"] = wanted
        program = written(tmp_path, content)
        (weight,) = program.graph.find_nodes(op="placeholder", target="p_w")
        assert weight.meta["val"].requires_grad is wanted
        assert [p.requires_grad for p in program.parameters()] == [wanted]


def test_an_input_that_is_no_tensor_is_its_value(tmp_path):
    relu = node("aten.relu.default", [("self", tensor("x"))], ["y"])
    body = programs.graph(["x", as_int(3)], ["y"], [relu], {n: meta([2]) for n in "xy"})
    number = {"constant_input": {"name": "n", "value": as_int(3)}}
    specs = [programs.user_input("x"), number]
    program = written(tmp_path, programs.program(body, specs, [programs.user_output("y")]))
    (given,) = program.graph.find_nodes(op="placeholder", target="n")
    assert given.meta["val"] == 3


def test_what_is_written_back_is_given_back_as_the_written_buffer(tmp_path):
    values = {n: meta([2]) for n in ("b_c", "sum")}
    add = node("aten.add.Tensor", [("self", tensor("b_c")), ("other", tensor("b_c"))], ["sum"])
    body = programs.graph(["b_c"], ["sum", "sum"], [add], values)
    buffer = {"arg": {"name": "b_c"}, "buffer_name": "c", "persistent": True}
    written_back = {"buffer_mutation": {"arg": {"name": "sum"}, "buffer_name": "c"}}
    outputs = [written_back, programs.user_output("sum")]
    program = written(tmp_path, programs.program(body, [{"buffer": buffer}], outputs))
    graph = program.module().graph
    (copy,) = graph.find_nodes(op="call_function", target=ops.aten.copy_.default)
    assert graph.output_node().args == ((copy,),)


def test_a_size_that_a_node_gives_is_a_symbol(tmp_path):
    program = written(tmp_path, programs.attention())
    sizes = program.graph.find_nodes(op="call_function", target=ops.aten.sym_size.int)
    assert sizes and all(isinstance(n.meta["val"], dispatch.SymInt) for n in sizes)
    assert {str(n.meta["val"]) for n in sizes} == {"b", "s"}


def test_a_node_is_renamed_in_the_signature(linear):
    linear.graph_signature.replace_all_uses("out", "result")
    assert linear.graph_signature.user_outputs == ("result",)


def test_programs_are_transformed_elsewhere(linear):
    with pytest.raises(RuntimeError, match="not transformed"):
        linear.run_decompositions()
    with pytest.raises(NotImplementedError, match="extra_files"):
        load(EXAMPLE, extra_files={"a": ""})


def test_a_script_reads_and_runs_a_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "program = torch.export.load('m.pt2')\n"
        "print(program.module()(torch.ones(2, 3))[0].sum(), type(program).__module__)\n"
        "for node in program.graph.nodes:\n"
        "    if node.op == 'call_function' and node.target is torch.ops.aten.mm.default:\n"
        "        print(node, node.args)\n"
    )
    programs.linear_archive(tmp_path / "m.pt2")
    command = [sys.executable, "-m", "dispatch.as_torch", str(script)]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENV, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "tensor(132.) torch.export.exported_program", "out (x, p_w)",
    ]  # fmt: skip
