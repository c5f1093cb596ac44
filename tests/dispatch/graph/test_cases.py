"""Symbolic runs: expressions that hold at all sizes of a case, and a case for every size."""

import json

import pytest

from dispatch import graph
from dispatch.fake import DynamicOutputShapeException
from dispatch.graph.text import module_table
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_sizes import two_symbols

POINTS = [(1, 7), (2, 2), (3, 5), (5, 16), (64, 33), (1, 2)]


@pytest.fixture
def module(tmp_path):
    return graph.load(programs.write_json(tmp_path / "attention.json", programs.attention()))


@pytest.fixture
def from_data(tmp_path):
    return graph.load(programs.write_json(tmp_path / "data.json", programs.chosen_by_data()))


def value(expr, sizes):
    """What an expression of the report is at these sizes."""
    return eval(expr, {"Max": max}, dict(sizes)) if isinstance(expr, str) else expr


@pytest.mark.parametrize(("b", "s"), POINTS)
@pytest.mark.parametrize("device", [None, "cuda"])
def test_expressions_are_what_runs_give(module, b, s, device):
    """Call by call at each point, by the report there and by the texts."""
    at = {"b": b, "s": s}
    report = module.run(symbolic=True, device=device)
    there, plain = report.at(at).to_json(), module.run(sizes=at, device=device).to_json()
    for key in ("inputs", "outputs", "peak_bytes", "peak_index", "flops", "storages"):
        assert there[key] == plain[key]
    found = report.to_json()
    for row, ours, run in zip(found["modules"], there["modules"], plain["modules"], strict=True):
        assert {key: ours[key] for key in run} == run
        for key in ("bytes", "flops"):
            assert value(row[f"{key}_expr"], at) == run[key], (row["path"], key)
    for call, ours, run in zip(found["calls"], there["calls"], plain["calls"], strict=True):
        assert {key: ours[key] for key in run} == run
        for key in ("live_bytes", "during_bytes", "new_bytes", "flops"):
            assert value(call[f"{key}_expr"], at) == run[key], key
        for meta, expr in zip(run["outputs"], call["outputs_expr"], strict=True):
            assert [value(x, at) for x in expr["shape"]] == meta["shape"]
            assert [value(x, at) for x in expr["stride"]] == meta["stride"]
    assert value(found["peak_bytes_expr"], at) == plain["peak_bytes"]
    assert value(found["flops_expr"], at) == plain["flops"]


def test_a_module_has_what_is_below_it_as_expressions(tmp_path):
    content = programs.attention()
    for call in content["graph_module"]["graph"]["nodes"]:
        if call["target"].startswith("torch.ops.aten.mm"):
            name = "up" if call["outputs"][0]["as_tensor"]["name"] == "up" else "down"
            stack = f"L__self___mlp,mlp,m.MLP;L__self___mlp_{name},mlp.{name},m.Linear"
            call["metadata"] = {"nn_module_stack": stack}
    report = graph.load(programs.write_json(tmp_path / "m.json", content)).run(symbolic=True)
    found = {row["path"]: (row["bytes_expr"], row["flops_expr"]) for row in report.modules}
    assert found["mlp.up"] == ("128*b*s", "256*b*s")
    assert found["mlp.down"] == ("16*b*s", "256*b*s")
    assert found["mlp"] == ("144*b*s", "512*b*s")
    assert found[""][1] == report.expressions.flops
    table = module_table(report.to_json())
    assert table.rows[1][-3:-1] == ["144*b*s", "512*b*s"]
    assert "FLOPs =" in table.columns
    plain = graph.load(tmp_path / "m.json").run()
    assert "FLOPs =" not in module_table(plain.to_json()).columns


def test_the_place_of_the_peak_depends_on_the_sizes(module):
    report = module.run(symbolic=True)
    wide, weights = report.expressions.peaks
    assert (wide["node"], weights["node"]) == ("act", "weights")
    assert wide["bytes_expr"] == "272*b*s + 1024"
    assert weights["bytes_expr"] == "8*b*s**2 + 32*b*s + 1024"
    assert report.expressions.peak_bytes == f"Max({wide['bytes_expr']}, {weights['bytes_expr']})"
    for s, node in ((29, "act"), (31, "weights")):
        there = report.at({"seq": s})
        assert there.calls[there.peak_index]["node"] == node


def test_a_range_rules_a_place_out(tmp_path):
    content = programs.attention()
    content["range_constraints"]["s"]["max_val"] = 30
    module = graph.load(programs.write_json(tmp_path / "small.json", content))
    assert module.run(symbolic=True).expressions.peak_bytes == "272*b*s + 1024"


def test_the_report_is_that_of_the_recorded_sizes_or_of_those_set(module):
    report, plain = module.run(symbolic=True), module.run()
    assert report.is_symbolic and not plain.is_symbolic
    assert [row["value"] for row in report.sizes] == [2, 3]
    assert report.peak_bytes == plain.peak_bytes and str(report.peak_bytes) in repr(report.calls)
    keys = {"peak_bytes_expr", "peaks", "flops_expr", "guards", "asserts"}
    assert set(report.to_json()) - set(plain.to_json()) == keys
    json.dumps(report.to_json())
    at = module.run(symbolic=True, sizes={"batch": 5})
    assert at.peak_bytes == module.run(sizes={"batch": 5}).peak_bytes
    assert at.to_json()["calls"][3]["outputs_expr"][0]["shape"] == ["b*s", 4]


def test_one_run_serves_all_sizes_but_0_and_1(module, monkeypatch):
    report = module.run(symbolic=True)
    made = []
    run = type(module)._run_case
    monkeypatch.setattr(
        type(module), "_run_case", lambda self, *args: (made.append(args[1]), run(self, *args))[1]
    )
    for b, s in POINTS[1:5]:
        report.at({"b": b, "s": s})
    assert made == []
    for s in (7, 9):
        report.at({"b": 1, "s": s})
    assert made == [{"b": 1, "s": 7}]
    assert report.expressions.guards[0] == {"expr": "b >= 2", "index": -1, "node": ""}


def test_a_second_run_says_the_same(module):
    first, second = (module.run(symbolic=True).to_json() for _ in range(2))
    assert second["cache"]["misses"] == 0 < first["cache"]["misses"]
    for found in (first, second):
        del found["cache"], found["wall_ns"]
    assert first == second


def test_inputs_whose_sizes_are_expressions(tmp_path):
    module = graph.load(programs.write_json(tmp_path / "two.json", two_symbols()))
    calls = module.run(symbolic=True).to_json()["calls"]
    assert [call["outputs_expr"][0]["shape"] for call in calls] == [["a", "b", 3], ["a", "2*b"]]


def test_flops_of_a_call_with_keywords(tmp_path):
    """Its formula gets each argument under its own name, and what was left out as None."""
    b = programs.symbol("b", 2)
    call = programs.node(
        "aten.addmm.default",
        [("self", programs.tensor("bias")), ("mat1", programs.tensor("x")),
         ("mat2", programs.tensor("w")), ("alpha", programs.as_int(3))],
        ["out"],
    )  # fmt: skip
    call["inputs"][3]["kind"] = 2
    values = {"bias": programs.meta([5]), "w": programs.meta([4, 5])}
    values |= {"x": programs.meta([b, 4]), "out": programs.meta([b, 5])}
    body = programs.graph(["bias", "w", "x"], ["out"], [call], values)
    specs = [programs.user_input(name) for name in ("bias", "w", "x")]
    content = programs.program(body, specs, [programs.user_output("out")], b=(2, None))
    module = graph.load(programs.write_json(tmp_path / "addmm.json", content))
    report = module.run(symbolic=True)
    assert value(report.to_json()["flops_expr"], {"b": 7}) == 2 * 7 * 4 * 5
    assert report.at({"b": 7}).flops == module.run(sizes={"b": 7}).flops == 280


def test_a_guard_names_the_call_that_asked(tmp_path):
    content = programs.attention()
    nodes = content["graph_module"]["graph"]["nodes"]
    nodes[8]["inputs"][0]["arg"] = programs.tensor("half")
    nodes.insert(8, programs.node(
        "aten.view.default",
        [("self", programs.tensor("back")), ("size", {"as_ints": [-1, 6, 4]})], ["half"],
    ))  # fmt: skip
    nodes[10]["inputs"][0]["arg"] = nodes[12]["inputs"][1]["arg"] = programs.tensor("half")
    content["graph_module"]["graph"]["tensor_values"]["half"] = programs.meta([1, 6, 4])
    module = graph.load(programs.write_json(tmp_path / "sixes.json", content))
    report = module.run(symbolic=True)
    asked = {row["node"] for row in report.to_json()["guards"] if row["expr"].startswith("Eq(")}
    assert asked == {"half"}
    assert report.at({"b": 4, "s": 9}).peak_bytes == module.run(sizes={"b": 4, "s": 9}).peak_bytes
    with pytest.raises(RuntimeError, match="half"):
        report.at({"b": 4, "s": 5})


def test_numbers_that_data_decide_are_symbols(from_data):
    report = from_data.run(symbolic=True)
    rows = {row["symbol"]: row for row in report.sizes}
    assert rows["u0"]["value"] == 12 and rows["u1"]["value"] == 7  # all elements; the most there is
    assert (rows["u1"]["min"], rows["u1"]["max"]) == (2, 7)
    found = report.to_json()
    assert found["calls"][1]["outputs_expr"][0]["shape"] == ["u0", 2]
    assert found["asserts"] == ["u1 <= 7", "2 <= u1"]
    there = report.at({"u0": 5, "batch": 3, "u1": 2})
    assert [meta["shape"] for meta in there.outputs] == [[5, 2], [2]]
    assert value(found["peak_bytes_expr"], {"b": 3, "u0": 5, "u1": 2}) == there.peak_bytes
    with pytest.raises(ValueError, match="u1 = 8: out of range"):
        report.at({"u1": 8})


def test_number_of_data_may_be_named_where_sizes_leave_no_choice(tmp_path):
    made = programs.write_json(tmp_path / "data.json", programs.chosen_by_data(least=0))
    report = graph.load(made).run(symbolic=True)
    there = report.at({"batch": 0, "u0": 0, "u1": 2})
    assert [meta["shape"] for meta in there.outputs] == [[0, 2], [2]]
    assert [row["value"] for row in there.sizes] == [0, 2]
    with pytest.raises(ValueError, match="no size 'u7'"):
        report.at({"batch": 0, "u7": 0})
    back = there.at({"batch": 3, "u0": 5})  # by the names of that report: the number that is read
    assert [meta["shape"] for meta in back.outputs] == [[9, 2], [5]]


def test_mistakes(module):
    with pytest.raises(ValueError, match="out of range"):
        module.run(symbolic=True).at({"b": 65})
    with pytest.raises(ValueError, match="no size 'length'"):
        module.run(symbolic=True, sizes={"length": 3})
    with pytest.raises(ValueError, match="symbolic takes sizes"):
        module.run(symbolic=True, fake=False)
    report = module.run()
    with pytest.raises(ValueError, match="symbolic=True"):
        report.at({"b": 3})
    with pytest.raises(ValueError, match="symbolic=True"):
        report.expressions  # noqa: B018


def test_what_data_decide_is_a_symbol_of_a_plain_run_too(from_data):
    report = from_data.run()
    assert report.peak_bytes == from_data.run(symbolic=True).peak_bytes
    assert report.at({"u0": 2}).peak_bytes < report.peak_bytes
    with pytest.raises(DynamicOutputShapeException):
        from_data.run(*from_data.random_inputs())
