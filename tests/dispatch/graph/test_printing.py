"""`printing`: a graph is a line, code, or a table."""

from dispatch import graph
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, symbol, tensor
from tests.dispatch.graph.test_executor import cond
from tests.dispatch.graph.test_module import EXAMPLE
from tests.dispatch.graph.test_modules import TRACE

ADD_RELU = """class GraphModule:
    def forward(self, x: "f32[2, 3]", y: "f32[2, 3]"):
        sum: "f32[2, 3]" = torch.ops.aten.add.Tensor(x, y);  x = y = None
        act: "f32[2, 3]" = torch.ops.aten.relu.default(sum);  sum = None
        out: "f32[2, 3]" = torch.ops.aten.mul.Tensor(act, 2);  act = None
        return (out,)
"""


def load(tmp_path, content):
    return graph.load(programs.write_json(tmp_path / "m.json", content))


def test_a_graph_is_one_line():
    module = graph.load(EXAMPLE)
    assert repr(module.graph) == "Graph(31 inputs, 128 calls, 1 output)"
    assert len(repr(module)) < 100 and "\n" not in repr(module)


def test_code_with_types_and_last_uses(tmp_path, capsys):
    module = load(tmp_path, programs.add_relu())
    assert module.print_readable() == ADD_RELU
    assert capsys.readouterr().out == ADD_RELU + "\n"
    assert module.graph.print_readable(print_output=False) == ADD_RELU
    assert capsys.readouterr().out == ""


def test_lines_of_source_stand_above_their_calls(tmp_path):
    content = programs.add_relu()
    for call in content["graph_module"]["graph"]["nodes"][:2]:
        call["metadata"] = {"stack_trace": TRACE}
    shown = load(tmp_path, content).print_readable(False)
    assert shown.count("# /app/enc.py:9 in forward: return self.fc(x)") == 1


def test_every_kind_of_argument_has_a_text(tmp_path):
    given = [
        ("dtype", {"as_scalar_type": 13}),
        ("layout", {"as_layout": 7}),
        ("device", {"as_device": {"type": "cuda", "index": 1}}),
        ("names", {"as_strings": ["a"]}),
        ("maybe", {"as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "x"}}]}),
        ("number", {"as_complex": {"real": 1.0, "imag": 2.0}}),
        ("size", {"as_sym_ints": [{"as_int": 2}, {"as_name": "s"}]}),
        ("none", {"as_none": True}),
    ]
    size = node("aten.sym_size.int", [("self", tensor("x")), ("dim", as_int(0))],
                [{"as_sym_int": {"as_name": "s"}}], name="s")  # fmt: skip
    nodes = [size, node("graphtest.all.default", given, ["y"])]
    body = programs.graph(["x"], ["y"], nodes, {"x": meta([symbol("s0", 4), 3])}, s=as_int(4))
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("y")])
    shown = load(tmp_path, content).print_readable(False)
    assert (
        "all.default(torch.bfloat16, torch.strided, device(type='cuda', index=1), ['a'], "
        "[None, x], (1+2j), [2, s], None)" in shown
    )
    assert 'x: "f32[s0, 3]"' in shown


def test_a_size_that_is_no_symbol_alone_is_its_recorded_value(tmp_path):
    product = "Mul(Integer(2), Symbol('s0', integer=True))"
    size = {"as_expr": {"expr_str": product, "hint": {"as_int": 8}}}
    body = programs.graph(["x"], ["x"], [], {"x": meta([size, 3], strides=[3, 1])})
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("x")])
    assert 'x: "f32[8?, 3]"' in load(tmp_path, content).print_readable(False)


def test_branches_are_functions_within(tmp_path):
    body = programs.graph(["x"], ["c"], [cond({"as_bool": True})], {"x": meta([2, 3])})
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("c")])
    shown = load(tmp_path, content).print_readable(False)
    assert "        def yes(self, " in shown
    assert "cond(True, yes, no, [x])" in shown


def test_a_table_has_a_row_for_each_value(tmp_path, capsys):
    shown = load(tmp_path, programs.add_relu()).print_tabular()
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines[2:]] == [
        "placeholder", "placeholder", *["call_function"] * 3, "output",
    ]  # fmt: skip
    assert lines[4].split() == ["call_function", "sum", "aten.add.Tensor", "(x,", "y)", "{}"]
    assert capsys.readouterr().out == shown + "\n"


def test_a_strangers_names_cannot_steer_a_terminal(tmp_path):
    content = programs.add_relu()
    content["graph_module"]["graph"]["nodes"][1]["target"] = "torch.ops.evil\x1b[2J.x.default"
    module = load(tmp_path, content)
    assert "\x1b" not in module.print_readable(False) + module.print_tabular(False)


def test_a_notebook_shows_a_program(tmp_path):
    shown = load(tmp_path, programs.add_relu())._repr_html_()
    assert "aten::relu" in shown and "f32[2, 3]" in shown
