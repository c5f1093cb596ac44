"""What fits: answers held against runs at the size and one past it, and what ends them."""

import json

import pytest

from dispatch import graph
from dispatch.graph.cases import Case
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, node, tensor
from tests.dispatch.graph.test_freeing import fixed
from tests.dispatch.graph.test_module import dynamic
from tests.dispatch.graph.test_sizes import two_symbols


@pytest.fixture
def one(tmp_path):
    return graph.load(programs.write_json(tmp_path / "one.json", dynamic()))


@pytest.fixture
def two(tmp_path):
    return graph.load(programs.write_json(tmp_path / "two.json", two_symbols()))


@pytest.mark.parametrize("memory", [100, 200, 333, 1000, 1270])
def test_the_largest_is_what_trying_all_gives(one, memory):
    """Sizes from 2 to 64: of all that fit, the largest."""
    peaks = {n: one.run(sizes={"batch": n}).peak_bytes for n in range(2, 65)}
    best = max(n for n, peak in peaks.items() if peak <= memory)
    found = graph.fit(one, memory)
    (row,) = found.largest
    assert (row["value"], row["peak_bytes"]) == (best, peaks[best])
    assert (row["next"], row["next_peak_bytes"]) == (best + 1, peaks[best + 1])
    assert row["ended_by"] == "memory" and found.frontier == []
    assert found.peak_bytes == peaks[4] and found.at == {"batch": 4}
    assert not found.is_empty


def test_the_exported_range_ends_it(one):
    (row,) = graph.fit(one, 10**9, device="cuda").largest
    assert (row["value"], row["ended_by"], row["next"]) == (64, "range", None)


def test_the_memory_may_be_a_text(one):
    assert graph.fit(one, "64kB").memory == 64_000
    assert graph.fit(one, "64kB").largest == graph.fit(one, 64_000).largest
    with pytest.raises(ValueError, match="memory: expected an amount like 80GB, got 'much'"):
        graph.fit(one, "much")
    with pytest.raises(TypeError):
        graph.fit(one, 6.4e4)


def test_nothing_fits(one):
    found = graph.fit(one, 10)
    assert found.is_empty
    (row,) = found.largest
    assert (row["value"], row["next"], row["ended_by"]) == (None, 2, "memory")
    assert row["next_peak_bytes"] == one.run(sizes={"batch": 2}).peak_bytes


def test_the_frontier_holds_and_one_past_it_does_not(two):
    memory = 100_000
    found = graph.fit(two, memory, device="cuda")
    assert found.device.startswith("cuda") and len(found.frontier) == 8
    values = []
    for row in found.frontier:
        at = {**row["at"], row["symbol"]: row["value"]}
        assert two.run(sizes=at, device="cuda").peak_bytes == row["peak_bytes"] <= memory
        if row["ended_by"] == "range":
            assert row["value"] == 64
            continue
        at[row["symbol"]] += 1
        assert two.run(sizes=at, device="cuda").peak_bytes == row["next_peak_bytes"] > memory
        values.append(row["value"])
    assert values == sorted(values, reverse=True) and len(values) > 3
    firsts = [row["at"]["batch"] for row in found.frontier]
    assert firsts == sorted(set(firsts)) and firsts[0] == 1
    assert two.run(sizes={"batch": firsts[-1], "seq": 2}).peak_bytes <= memory
    assert two.run(sizes={"batch": firsts[-1] + 1, "seq": 2}).peak_bytes > memory
    assert found.runs < 120 and json.loads(json.dumps(found.to_json())) == found.to_json()


def test_a_size_without_a_limit_is_found_by_doubling(two):
    found = graph.fit(two, 10**9, ["batch"], sizes={"seq": 10})
    (row,) = found.largest
    peaks = [two.run(sizes={"batch": row["value"] + i, "seq": 10}).peak_bytes for i in (0, 1)]
    assert peaks[0] <= 10**9 < peaks[1] and found.at == {"batch": 4, "seq": 10}
    assert found.runs < 60


def test_a_number_baked_in_ends_it(tmp_path):
    """The view takes the recorded number of elements: other sizes do not run."""
    content = dynamic()
    body = content["graph_module"]["graph"]
    shape = ("size", {"as_ints": [12]})
    body["nodes"][2] = node("aten.view.default", [("self", tensor("x")), shape], ["v"])
    module = graph.load(programs.write_json(tmp_path / "baked.json", content))
    (row,) = graph.fit(module, 10**6).largest
    assert (row["value"], row["next"], row["ended_by"]) == (4, 5, "program")
    assert "12" in row["problem"]


def test_where_the_guards_end_the_program_is_asked_first(tmp_path):
    """A weight of three columns: the search does not try its way down from 2**24."""
    add = ("add.Tensor", "z", "x", ("other", tensor("p_y")))
    content = fixed(add, out="z", x=[4, 3], p_y=[3], z=[4, 3])
    module = graph.load(programs.write_json(tmp_path / "pinned.json", content))
    found = graph.fit(module.free({"x:1": "seq"}), 10**6)
    (row,) = found.largest
    assert (row["value"], row["next"], row["ended_by"]) == (3, 4, "program")
    assert found.runs < 9
    assert row["problem"].startswith("z (aten::add.Tensor): The size of tensor a (4)")
    cell = found.tables()[0].rows[0][-2]
    assert cell.endswith("...") and row["problem"].startswith(cell[:-3]), "cut to the column"


def test_tables_say_it(two):
    found = graph.fit(two, 100_000)
    largest, frontier = found.tables()
    assert [row[0] for row in largest.rows] == ["batch", "seq"]
    assert largest.rows[0][-1] == "seq = 5" and "the exported range" in largest.rows[1]
    assert frontier.title == "largest seq for each batch" and len(frontier.rows) == 8
    assert ("memory", "100.0 kB") in found.facts()


def test_what_cannot_be_asked(two, tmp_path):
    with pytest.raises(ValueError, match="no size 'bath': there is batch"):
        graph.fit(two, 100, ["bath"])
    with pytest.raises(ValueError, match="out of range"):
        graph.fit(two, 100, ["batch"], sizes={"seq": 65})
    fixed = graph.load(programs.write_json(tmp_path / "fixed.json", programs.add_relu()))
    with pytest.raises(ValueError, match="exported with fixed sizes"):
        graph.fit(fixed, 100)


def test_more_than_two_sizes_do_not_vary(tmp_path):
    content = two_symbols()
    values = content["graph_module"]["graph"]["tensor_values"]
    values["x"]["sizes"][2] = programs.symbol("c", 3)
    values["x"]["strides"] = [as_int(1)] * 3
    module = graph.load(programs.write_json(tmp_path / "three.json", content))
    with pytest.raises(ValueError, match="at most two sizes can vary, not 3"):
        graph.fit(module, 100, ["a", "b", "c"])


@pytest.fixture
def block(tmp_path):
    return graph.load(programs.write_json(tmp_path / "block.json", programs.attention()))


def test_runs_are_made_for_the_answers_only(block):
    """Two largest and eight rows, each with one more, and the recorded sizes."""
    found = graph.fit(block, 10**6)
    assert found.runs <= 2 * 10 + 1 + 3
    at = {"b": found.largest[0]["value"], "s": 3}
    assert block.run(sizes=at).peak_bytes == found.largest[0]["peak_bytes"] <= 10**6


def test_where_expressions_are_wrong_runs_decide(block, monkeypatch):
    expected = graph.fit(block, 10**6)
    monkeypatch.setattr(Case, "peak_bytes", lambda self, values: 7)
    found = graph.fit(block, 10**6)
    assert (found.largest, found.frontier) == (expected.largest, expected.frontier)
    assert found.runs > expected.runs


def test_curves_go_past_the_end(block):
    curve = graph.fit(block, 10**5, ["s"]).curves[0]
    peaks = [nbytes for _, nbytes in curve["points"]]
    assert peaks == sorted(peaks) and peaks[0] < 10**5 < peaks[-1]
    value, nbytes = curve["points"][5]
    assert block.run(sizes={"s": value}).peak_bytes == nbytes


def test_a_program_whose_data_decide_sizes(tmp_path):
    module = graph.load(programs.write_json(tmp_path / "data.json", programs.chosen_by_data()))
    (row,) = graph.fit(module, 10**4).largest
    report = module.run(symbolic=True)
    assert report.at({"batch": row["value"]}).peak_bytes == row["peak_bytes"] <= 10**4
    assert report.at({"batch": row["value"] + 1}).peak_bytes > 10**4
