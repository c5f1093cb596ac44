"""`report`: live bytes by storage, peak, FLOPs, metadata, from the log of a run."""

import json
import sys
import types
from unittest import mock

import pytest

from dispatch import graph
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, tensor
from tests.dispatch.graph.test_executor import cond
from tests.dispatch.graph.test_module import EXAMPLE

MATRIX = 24  # bytes of a 2x3 float32


def report(tmp_path, content, **options):
    module = graph.load(programs.write_json(tmp_path / "m.json", content))
    return module.run(**options).to_json()


def test_the_whole_object(tmp_path):
    found = report(tmp_path, programs.add_relu(), device="cuda")
    shape = {"shape": [2, 3], "dtype": "float32", "stride": [3, 1], "storage_offset": 0}
    cuda = {**shape, "device": found["outputs"][0]["device"]}
    assert cuda["device"].startswith("cuda")
    wall = found.pop("wall_ns")
    assert wall > 0
    assert found.pop("cache")["misses"] == 3
    calls = [
        ("sum", "aten::add.Tensor", 3, 3),
        ("act", "aten::relu", 3, 4),
        ("out", "aten::mul.Tensor", 3, 4),
    ]

    def held(name, kind, made, last_used, freed):
        life = {"made": made, "last_used": last_used, "freed": freed}
        place = {"module": None if kind == "activation" else "", "may_be": None}
        return {
            "name": name, "kind": kind, "bytes": MATRIX, **life, **place,
            "shape": [2, 3], "dtype": "float32",
        }  # fmt: skip

    memory = [
        held("x", "input", -1, 0, 3),
        held("y", "input", -1, 0, 3),
        held("sum", "activation", 0, 1, 1),
        held("act", "activation", 1, 2, 2),
        held("out", "activation", 2, 3, 3),
    ]
    counts = {"calls": 1, "new_bytes": MATRIX, "output_bytes": MATRIX, "flops": 0, "ns": None}
    assert found == {
        "model": "m.json",
        "device": "cuda",
        "mode": "fake",
        "parameters": 0,
        "parameter_bytes": 0,
        "sizes": [],
        "inputs": [cuda, cuda],
        "outputs": [cuda],
        "calls": [
            {
                "index": i,
                "node": name,
                "op": op,
                "outputs": [cuda],
                "live_bytes": live * MATRIX,
                "during_bytes": during * MATRIX,
                "new_bytes": MATRIX,
                "output_bytes": MATRIX,
                "moved_bytes": (3 if name == "sum" else 2) * MATRIX,
                "compute_dtype": "float32",
                "flops": 0,
                "ns": None,
                "module": None,
                "source": None,
            }
            for i, (name, op, live, during) in enumerate(calls)
        ],
        "peak_bytes": 4 * MATRIX,
        "peak_index": 1,
        "alive_at_peak": memory[:4],
        "advice": [
            {
                "what": "write in place in 2 calls (aten::relu, aten::mul.Tensor; "
                "the one at the peak is one of them)",
                "saved_bytes": MATRIX,
                "peak_bytes": 3 * MATRIX,
            },
            {
                "what": "free 2 inputs after the last use (x, y)",
                "saved_bytes": MATRIX,
                "peak_bytes": 3 * MATRIX,
            },
        ],
        "flops": 0,
        "operators": [
            {"op": op, **counts} for op in ("aten::add.Tensor", "aten::mul.Tensor", "aten::relu")
        ],
        "modules": [
            {
                "path": "",
                "class": None,
                "source": None,
                "depth": 0,
                "parameters": 0,
                "parameter_bytes": 0,
                "bytes": 3 * MATRIX,
                "peak_bytes": 4 * MATRIX,
                "peak_share": 1.0,
                "flops": 0,
                "calls": 3,
                "ns": None,
            }
        ],
        "storages": memory,
        "unregistered": [],
        "made_up_weights": 0,
        "made_up_inputs": 0,
    }
    json.dumps(found)


def test_views_and_unused_results_add_nothing(tmp_path):
    """Two inputs; a view of one; a copy that nobody uses; a copy that is used through its view."""
    two = ("dims", {"as_ints": [1, 0]})
    nodes = [
        node("aten.permute.default", [("self", tensor("x")), two], ["view"]),
        node("aten.clone.default", [("self", tensor("x"))], ["unused"]),
        node("aten.clone.default", [("self", tensor("view"))], ["copy"]),
        node("aten.permute.default", [("self", tensor("copy")), two], ["copy_view"]),
        node("aten.clone.default", [("self", tensor("copy_view"))], ["out"]),
    ]
    values = {"x": meta([2, 3]), "y": meta([2, 3])}
    body = programs.graph(["x", "y"], ["out"], nodes, values)
    specs = [programs.user_input("x"), programs.user_input("y")]
    found = report(tmp_path, programs.program(body, specs, [programs.user_output("out")]))
    assert [c["live_bytes"] // MATRIX for c in found["calls"]] == [2, 2, 3, 3, 3]
    assert [c["during_bytes"] // MATRIX for c in found["calls"]] == [2, 3, 3, 3, 4]
    assert [c["new_bytes"] // MATRIX for c in found["calls"]] == [0, 1, 1, 0, 1]
    assert found["peak_index"] == 4


def test_in_place_results_are_the_same_storage(tmp_path):
    nodes = [
        node("aten.clone.default", [("self", tensor("x"))], ["a"]),
        node("aten.add_.Tensor", [("self", tensor("a")), ("other", as_int(1))], ["b"]),
    ]
    body = programs.graph(["x"], ["b"], nodes, {"x": meta([2, 3])})
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("b")])
    calls = report(tmp_path, content)["calls"]
    for key in ("live_bytes", "during_bytes"):
        assert [c[key] for c in calls] == [2 * MATRIX] * 2
    assert [c["new_bytes"] for c in calls] == [MATRIX, 0]


def test_tied_weights_count_once(tmp_path):
    module = graph.load(programs.linear_archive(tmp_path / "m.pt2", tied=True))
    found = module.run().to_json()
    assert found["calls"][0]["live_bytes"] == MATRIX + 48 + 32
    assert found["calls"][0]["flops"] == 2 * 2 * 3 * 4
    assert found["flops"] == 48


def test_outputs_are_flattened_with_none(tmp_path):
    nodes = [
        node("aten.max.dim", [("self", tensor("x")), ("dim", as_int(1))], ["v", "i"]),
        node(
            "aten.unbind.int",
            [("self", tensor("x"))],
            [{"as_tensors": [{"name": "p"}, {"name": "q"}]}],
            name="unbind",
        ),
        node(
            "aten.sym_size.int",
            [("self", tensor("x")), ("dim", as_int(0))],
            [{"as_sym_int": {"as_name": "s"}}],
            name="s",
        ),
    ]
    body = programs.graph(["x"], ["v", "q"], nodes, {"x": meta([2, 3])})
    outputs = [programs.user_output("v"), programs.user_output("q")]
    found = report(tmp_path, programs.program(body, [programs.user_input("x")], outputs))
    maximum, unbind, size = found["calls"]
    assert [o["dtype"] for o in maximum["outputs"]] == ["float32", "int64"]
    assert [o["storage_offset"] for o in unbind["outputs"]] == [0, 3]
    assert size["outputs"] == []
    assert [o["shape"] for o in found["outputs"]] == [[2], [3]]


def test_a_branch_is_reported_with_its_name(tmp_path):
    body = programs.graph(["x"], ["c"], [cond({"as_bool": True})], {"x": meta([2, 3])})
    content = programs.program(body, [programs.user_input("x")], [programs.user_output("c")])
    found = report(tmp_path, content)
    assert [(c["node"], c["op"]) for c in found["calls"]] == [
        ("yes.r", "aten::relu"),
        ("choice", "higher_order::cond"),
    ]
    assert [c["live_bytes"] for c in found["calls"]] == [2 * MATRIX] * 2
    assert [c["new_bytes"] for c in found["calls"]] == [MATRIX, 0]


def test_what_is_alive_adds_up_to_what_is_counted():
    """By call: the storages alive during it, and the bands, are its bytes; modules add up too."""
    found = graph.load(EXAMPLE).run()
    for call in found.calls:
        assert sum(r["bytes"] for r in found.alive_at(call["index"])) == call["during_bytes"]
        assert sum(b[call["index"]] for b in found.bands.values()) == call["during_bytes"]
    root = found.modules[0]
    assert root["calls"] == len(found.calls) == sum(r["calls"] for r in found.operators)
    assert root["parameters"] == found.parameters
    assert root["peak_bytes"] == found.peak_bytes
    assert root["flops"] == found.flops


def test_one_line_text_page_and_summary():
    found = graph.load(EXAMPLE).run()
    assert repr(found) == "<Report of gpt2.pt2 on cpu, fake: peak 198.7 kB>"
    for shown in (str(found), found.to_markdown(), found._repr_html_(), found.to_html()):
        assert "198.7 kB" in shown or "198656" in shown
        assert "aten::addmm" in shown


def test_a_data_frame_or_a_word_on_what_is_missing(monkeypatch):
    found = graph.load(EXAMPLE).run()
    with pytest.raises(ValueError, match="expected one of calls, modules"):
        found.to_pandas("rows")
    made = types.ModuleType("pandas")
    made.DataFrame = list
    monkeypatch.setitem(sys.modules, "pandas", made)
    assert found.to_pandas() == found.calls
    assert found.to_pandas("modules") == found.modules
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas"):
        found.to_pandas()


def test_a_plot_is_drawn_on_given_axes_or_says_what_is_missing(monkeypatch):
    found = graph.load(EXAMPLE).run()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="plot needs matplotlib"):
        found.plot()
    made, axes = types.ModuleType("matplotlib.pyplot"), mock.Mock()
    parent = types.ModuleType("matplotlib")
    parent.pyplot = made
    monkeypatch.setitem(sys.modules, "matplotlib", parent)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", made)
    assert found.plot(axes) is axes
    (at, *bands), _ = axes.stackplot.call_args
    assert len(at) == 129  # the last call has a width too
    assert max(map(sum, zip(*bands, strict=True))) == found.peak_bytes


def test_a_real_run_has_times(tmp_path):
    found = report(tmp_path, programs.add_relu(), fake=False)
    assert found["mode"] == "cpu"
    assert all(call["ns"] > 0 for call in found["calls"])
    assert found["cache"] == {"hits": 0, "misses": 0, "bypasses": {}}


def test_the_example_model():
    found = graph.load(EXAMPLE).run().to_json()
    assert len(found["calls"]) == 128
    assert found["parameters"] == 31616
    assert found["outputs"][0]["shape"] == [2, 16, 128]
    assert found["peak_bytes"] == 198_656  # what PyTorch 2.13 has alive in the same graph
    assert found["peak_bytes"] == max(c["during_bytes"] for c in found["calls"])
    assert found["calls"][found["peak_index"]]["during_bytes"] == found["peak_bytes"]
    assert found["flops"] == 1_966_080  # FlopCounterMode's total for the same program
