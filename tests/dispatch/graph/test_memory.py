"""`memory`: lives of storages, and what is there while a call runs."""

from dispatch import graph
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, tensor
from tests.dispatch.graph.test_executor import called, cond

MATRIX = 24  # bytes of a 2x3 float32
X = ("self", tensor("x"))


def run(tmp_path, nodes, outputs, inputs=("x",)):
    body = programs.graph(list(inputs), outputs, nodes, {n: meta([2, 3]) for n in inputs})
    specs = [programs.user_input(n) for n in inputs]
    content = programs.program(body, specs, [programs.user_output(o) for o in outputs])
    return graph.load(programs.write_json(tmp_path / "m.json", content)).run()


def lives(report):
    return {r["name"]: (r["made"], r["last_used"], r["freed"]) for r in report.storages}


def test_inputs_and_outputs_of_a_call_are_there_together(tmp_path):
    nodes = [
        node("aten.relu.default", [X], ["a"]),
        node("aten.relu.default", [("self", tensor("a"))], ["b"]),
        node("aten.relu.default", [("self", tensor("b"))], ["c"]),
    ]
    found = run(tmp_path, nodes, ["c"])
    assert [c["live_bytes"] // MATRIX for c in found.calls] == [2, 2, 2]
    assert [c["during_bytes"] // MATRIX for c in found.calls] == [2, 3, 3]
    assert lives(found) == {"x": (-1, 0, 3), "a": (0, 1, 1), "b": (1, 2, 2), "c": (2, 3, 3)}
    assert (found.peak_bytes, found.peak_index) == (3 * MATRIX, 1)


def test_a_storage_lives_as_long_as_its_last_view(tmp_path):
    nodes = [
        node("aten.relu.default", [X], ["a"]),
        node("aten.view.default", [("self", tensor("a")), ("size", {"as_ints": [6]})], ["v"]),
        node("aten.relu.default", [X], ["b"]),
        node("aten.relu.default", [("self", tensor("v"))], ["c"]),
    ]
    found = run(tmp_path, nodes, ["b", "c"])
    assert lives(found)["a"] == (0, 3, 3)
    assert "v" not in lives(found)
    assert [c["new_bytes"] for c in found.calls] == [MATRIX, 0, MATRIX, MATRIX]


def test_a_result_that_nobody_uses_is_there_during_its_call_alone(tmp_path):
    nodes = [
        node("aten.max.dim", [X, ("dim", as_int(1))], ["values", "indices"]),
        node("aten.relu.default", [("self", tensor("values"))], ["out"]),
    ]
    found = run(tmp_path, nodes, ["out"])
    assert found.calls[0]["new_bytes"] == 8 + 16
    assert found.calls[0]["during_bytes"] - found.calls[0]["live_bytes"] == 16
    assert lives(found)["indices"] == (0, -1, 0)


def test_an_input_that_no_call_uses_is_there_all_the_time(tmp_path):
    nodes = [node("aten.relu.default", [X], ["out"])]
    found = run(tmp_path, nodes, ["out"], ("x", "idle"))
    assert lives(found)["idle"] == (-1, -1, 1)
    assert found.alive_at(0)[0]["kind"] == "input"


def test_what_a_branch_gives_is_allocated_once(tmp_path):
    found = run(tmp_path, [cond({"as_bool": True})], ["c"])
    assert lives(found) == {"x": (-1, 1, 2), "r": (0, 2, 2)}
    assert sum(c["new_bytes"] for c in found.calls) == MATRIX


def test_an_operand_outlives_two_branches(tmp_path):
    nodes = [node("aten.any.default", [X], ["p"]), cond(tensor("p"))]
    found = run(tmp_path, nodes, ["c"])
    assert lives(found)["x"] == (-1, 3, 4)
    assert found.calls[-1]["live_bytes"] == 2 * MATRIX


def test_rows_of_a_map_live_in_its_branch_and_its_calls_count_for_all(tmp_path):
    call = called("map_impl", [], True, [{"as_tensors": [{"name": "x"}]}, {"as_tensors": []}])
    graph = call["inputs"][0]["arg"]["as_graph"]["graph"]
    graph["nodes"] = [
        node("aten.outer.default", [("self", tensor("t")), ("vec2", tensor("t"))], ["o"]),
        node("aten.mv.default", [("self", tensor("o")), ("vec", tensor("t"))], ["r"]),
    ]
    found = run(tmp_path, [call], ["c"])
    row, square = MATRIX // 2, 36
    assert [(c["op"], c["new_bytes"]) for c in found.calls] == [
        ("aten::outer", square), ("aten::mv", row), ("higher_order::map_impl", MATRIX),
    ]  # fmt: skip
    assert lives(found)["body.t"] == (0, 1, 1)
    outer, mv = square + row, square + 2 * row
    assert [c["moved_bytes"] for c in found.calls] == [2 * outer, 2 * mv, 0]


def test_a_program_without_calls_has_no_peak(tmp_path):
    found = run(tmp_path, [], ["x"])
    assert (found.peak_bytes, found.peak_index, found.alive_at_peak, found.advice) == (
        0,
        -1,
        [],
        [],
    )
    assert "peak memory" in str(found)
