"""`diff`: what changed between two models' reports."""

import copy

import pytest

from dispatch import graph
from dispatch.graph.diff import Difference, _call_key, _class_text, compare
from dispatch.graph.text import markdown_tables
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_module import EXAMPLE


def report(path, content):
    return graph.load(programs.write_json(path, content)).run().to_json()


@pytest.fixture
def first(tmp_path):
    return report(tmp_path / "a.json", programs.add_relu())


def test_a_model_equals_itself():
    found = graph.load(EXAMPLE).run().to_json()
    difference = compare(found, copy.deepcopy(found))
    assert difference.is_empty
    assert difference.to_json()["equal"] is True
    assert [table.title for table in difference.tables()] == ["totals"]


def test_another_operator_and_a_call_more(first, tmp_path):
    content = programs.add_relu()
    body = content["graph_module"]["graph"]
    body["nodes"][1]["target"] = "torch.ops.aten.tanh.default"
    extra = programs.node("aten.sin.default", [("self", programs.tensor("out"))], ["more"])
    body["nodes"].append(extra)
    body["outputs"] = [programs.tensor("more")]
    content["graph_module"]["signature"]["output_specs"] = [programs.user_output("more")]
    difference = compare(first, report(tmp_path / "b.json", content))
    assert difference.operators == [
        ("aten::relu", 1, 0), ("aten::tanh", 0, 1), ("aten::sin", 0, 1),
    ]  # fmt: skip
    assert ("calls", 3, 4) in difference.totals
    assert ("aten::sin float32[2, 3]", 0, 1) in difference.calls
    assert not difference.weights and not difference.signature
    assert not difference.is_empty


def test_other_shapes_and_other_parameters(tmp_path):
    a = report(tmp_path / "a.json", programs.linear())
    content = programs.linear()
    values = content["graph_module"]["graph"]["tensor_values"]
    values |= {"p_w": programs.meta([3, 8]), "out": programs.meta([2, 8])}
    difference = compare(a, report(tmp_path / "b.json", content))
    assert difference.weights == [("w", "parameter float32[3, 4]", "parameter float32[3, 8]")]
    assert [row[0] for row in difference.signature] == ["outputs 0"]
    assert ("parameters", 12, 24) in difference.totals
    assert difference.operators == []
    titles = [table.title for table in difference.tables()]
    assert titles[:1] == ["totals"] and "parameters and buffers" in titles and "modules" in titles


def rows_of(difference):
    return {table.title: (table.columns, table.rows) for table in difference.tables()}


def test_tables_say_both_sides_and_the_change(tmp_path):
    a = report(tmp_path / "a.json", programs.linear())
    content = programs.linear()
    values = content["graph_module"]["graph"]["tensor_values"]
    values |= {"p_w": programs.meta([3, 8]), "out": programs.meta([2, 8])}
    b = report(tmp_path / "b.json", content)
    found = rows_of(compare(a, b))
    assert found["totals"][0] == ("", "a.json", "b.json", "change")
    assert found["totals"][1] == [
        ["parameters", "12", "24", "+12 (+100.0%)"],
        ["parameter memory", "48 B", "96 B", "+48 B (+100.0%)"],
        ["peak memory", "104 B", "184 B", "+80 B (+76.9%)"],
        ["new memory", "32 B", "64 B", "+32 B (+100.0%)"],
        ["FLOPs", "48", "96", "+48 (+100.0%)"],
        ["calls", "1", "1", "="],
    ]
    assert found["parameters and buffers"] == (
        ("what", "a.json", "b.json"), [["w", "parameter float32[3, 4]", "parameter float32[3, 8]"]],
    )  # fmt: skip
    assert found["modules"][1] == [
        ["(model)", "parameters 12, new memory 32 B, FLOPs 48",
         "parameters 24, new memory 64 B, FLOPs 96"],
    ]  # fmt: skip
    assert found["calls that only one has"][1] == [
        ["aten::mm float32[2, 4]", "1", "0", "-1"],
        ["aten::mm float32[2, 8]", "0", "1", "+1"],
    ]
    assert rows_of(compare(b, a))["totals"][1][0] == ["parameters", "24", "12", "-12 (-50.0%)"]


def test_modules_that_only_one_has_and_other_classes(first):
    second = copy.deepcopy(first)
    root = second["modules"][0]
    root["class"] = "net.Wide"
    second["modules"].append({**root, "path": "head", "class": "net.Head", "calls": 3})
    assert rows_of(compare(first, second))["modules"][1] == [
        ["(model)", "module", "Wide"],
        ["head", "-", "Head, 3 calls"],
    ]


def test_two_files_of_one_name_are_first_and_second(first):
    columns, _ = rows_of(compare(first, copy.deepcopy(first)))["totals"]
    assert columns == ("", "first", "second", "change")


def test_a_thousand_differences_are_cut(first):
    second = copy.deepcopy(first)
    second["calls"] = [{**c, "module": f"m{i}"} for i in range(500) for c in first["calls"]]
    table = compare(first, second).tables()[-1]
    assert len(table.rows) == 30
    more = 501 * len(first["calls"]) - 29
    assert table.rows[-1] == [f"and {more} more (--json has all)", "", "", ""]


def difference_of(**rows):
    empty = dict.fromkeys(
        ("totals", "operators", "signature", "weights", "modules", "calls"), ()
    )  # fmt: skip
    return Difference("a", "b", **{name: list(rows.get(name, ())) for name in empty})


def only_rows(difference):
    (table,) = difference.tables()
    return table.rows


def test_layers_that_are_alike_are_one_row():
    """The same change of each; what is only in one layer has its own name."""
    weights = [(f"m.layers.{i}.w", "f32[4]", "f32[8]") for i in range(12)]
    weights.append(("m.layers.12.w", "f32[4]", "f32[9]"))
    assert only_rows(difference_of(weights=weights)) == [
        ["m.layers.*.w (12 alike)", "f32[4]", "f32[8]"],
        ["m.layers.12.w", "f32[4]", "f32[9]"],
    ]
    calls = [(f"aten::mm in m.layers.{i}.{k}", i, 3) for i in range(3) for k in ("up", "down2")]
    calls.append(("aten::mm f32[3.5] in m.norm1", 0, 1))
    assert only_rows(difference_of(calls=calls)) == [
        ["aten::mm in m.layers.*.up", "3", "9", "+6"],
        ["aten::mm in m.layers.*.down2", "3", "9", "+6"],
        ["aten::mm f32[3.5] in m.norm1", "0", "1", "+1"],
    ]


def test_the_largest_changes_of_operators_come_first_and_the_rest_is_counted():
    operators = [(f"aten::op{i}", i, 0) for i in range(1, 41)]
    difference = difference_of(operators=operators)
    rows = only_rows(difference)
    assert [row[3] for row in rows[:2]] == ["-40", "-39"]
    assert rows[29:] == [["and 11 more (--json has all)", "", "", ""]]
    shown = markdown_tables("a and b", difference.tables())
    assert "and 11 more" in shown and shown.count("more") == 1
    assert len(difference.to_json()["operators"]) == 40


def test_a_call_without_outputs_has_one_space_before_its_module():
    report = {"op": "aten::check", "outputs": [], "module": "m.a"}
    assert _call_key(report) == "aten::check in m.a"
    assert _class_text({"class": "a.Linear", "calls": 1}) == "Linear, 1 call"
