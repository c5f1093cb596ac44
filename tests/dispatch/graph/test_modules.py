"""`modules`: notes of an exported program -> a tree of modules with source lines."""

import json

import pytest

from dispatch import graph
from dispatch.graph.modules import ModuleTree, WeightFact, place_of_notes
from dispatch.graph.program import NodeNotes
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import meta, node, tensor

STACK = "L__self__,,app.Net;L__self__enc,enc,app.Enc;L__self__enc.fc@1,enc.fc,torch.nn.Linear"
TRACE = (
    'File "/app/net.py", line 5, in forward\n    return self.enc(x)\n'
    '  File "/app/enc.py", line 9, in forward\n    return self.fc(x)\n'
    '  File "/lib/torch/nn/modules/linear.py", line 134, in forward\n    return F.linear(x)'
)


def note(text):
    """A string as it stands within JSON."""
    return json.dumps(text)[1:-1].encode()


def test_modules_and_source_lines():
    place = place_of_notes(NodeNotes(note(STACK), note(TRACE)))
    assert place.modules == (
        ("", "app.Net", "/app/net.py:5"),
        ("enc", "app.Enc", "/app/enc.py:9"),
        ("enc.fc", "torch.nn.Linear", "/app/enc.py:9"),
    )
    assert (place.module, place.source) == ("enc.fc", "/app/enc.py:9")


def test_a_frame_that_is_no_module_leaves_outer_lines_open():
    trace = TRACE.replace("line 5, in forward", "line 5, in helper")
    place = place_of_notes(NodeNotes(note(STACK), note(trace)))
    assert [source for _, _, source in place.modules] == [None, None, "/app/enc.py:9"]


def test_a_class_with_brackets_and_a_path_of_strict_export():
    stack = "k,L['self'].a.b,app.List[int, str];k,L['self'],app.Net"
    place = place_of_notes(NodeNotes(note(stack)))
    assert [m[:2] for m in place.modules] == [("a.b", "app.List[int, str]"), ("", "app.Net")]


@pytest.mark.parametrize("raw", [None, b"", b"\\x", b"no commas", b"a,b;c", b",,,,;;"])
def test_what_cannot_be_read_is_as_if_it_were_not_there(raw):
    assert place_of_notes(NodeNotes(raw, raw)) == ((), None)


def test_a_module_counts_what_is_below_it_and_tied_weights_once():
    tree = ModuleTree()
    place = place_of_notes(NodeNotes(note(STACK), None))
    tree.add_call(place, 8, 2, 5)
    tree.add_call(place_of_notes(NodeNotes()), 1, 0, None)
    for name, identity in (("enc.fc.w", "a"), ("head.w", "a"), ("enc.b", "b")):
        tree.add_weight(WeightFact(name, 10, 40, identity))
    tree.add_peak("enc.fc", 30)
    tree.add_peak("", 10)
    rows = {row["path"]: row for row in tree.rows(40)}
    assert list(rows) == ["", "enc", "enc.fc", "head"]
    keys = ("calls", "bytes", "flops", "ns", "parameters", "peak_bytes", "peak_share", "depth")
    assert [rows[""][k] for k in keys] == [2, 9, 2, 5, 20, 40, 1.0, 0]
    assert [rows["enc"][k] for k in keys] == [1, 8, 2, 5, 20, 30, 0.75, 1]
    assert [rows["head"][k] for k in keys] == [0, 0, 0, None, 10, 0, 0.0, 1]


def test_a_call_names_its_module(tmp_path):
    calls = [node("aten.relu.default", [("self", tensor("x"))], ["y"])]
    calls[0]["metadata"] = {"nn_module_stack": STACK, "stack_trace": TRACE, "torch_fn": "relu"}
    body = programs.graph(["x"], ["y"], calls, {"x": meta([2, 3])})
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("y")])
    found = graph.load(programs.write_json(tmp_path / "m.json", content)).run()
    assert found.calls[0]["module"] == "enc.fc"
    assert found.calls[0]["source"] == "/app/enc.py:9"
    assert [row["class"] for row in found.modules] == ["app.Net", "app.Enc", "torch.nn.Linear"]


def test_calls_that_the_exporter_adds_are_of_no_module():
    """It notes a module of its own for those that read and check sizes."""
    name = "_empty_nn_module_stack_from_metadata_hook"
    assert place_of_notes(NodeNotes(note(f"{name},{name},passes.{name}"), None)).modules == ()


def test_a_path_of_a_million_parts_is_cut(tmp_path):
    tree = ModuleTree()
    tree.add_weight(WeightFact("a." * 1_000_000, 1, 4, "w"))
    assert len(tree.rows(1)) == 65
