"""`diff`: what changed between two models' reports."""

import copy

import pytest

from dispatch import graph
from dispatch.graph.diff import compare
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


def test_a_thousand_differences_are_cut(first):
    second = copy.deepcopy(first)
    second["calls"] = [{**c, "module": f"m{i}"} for i in range(500) for c in first["calls"]]
    table = compare(first, second).tables()[-1]
    assert len(table.rows) == 41 and table.rows[-1][0].startswith("and ")
