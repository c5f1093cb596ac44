"""Sweeps: rows equal runs, failures are rows, and it goes on where it was interrupted."""

import json

import pytest

from dispatch import graph
from dispatch.graph import sweep as sweeping
from dispatch.graph.sweep import columns_of, key_of, plan_sweep, read_vary, rows_of, run_sweep
from dispatch.graph.sweep_files import RowFile
from tests.dispatch.graph import programs

VARY = {"batch": [1, 2, 5], "seq": [3, 8]}


@pytest.fixture
def model(tmp_path):
    return str(programs.write_json(tmp_path / "block.json", programs.attention()))


def swept(*args, **kwargs):
    return [row for task in plan_sweep(*args, **kwargs) for row in rows_of(task)]


def test_rows_are_what_runs_give(model):
    module = graph.load(model)
    rows = swept([model], VARY, devices=("cuda", None), on=("l4",))
    assert len(rows) == 12 and {row["device"] for row in rows} == {"cuda", None}
    for row in rows:
        assert list(row) == columns_of(VARY)
        report = module.run(sizes={n: row[n] for n in VARY}, device=row["device"])
        assert (row["peak_bytes"], row["flops"]) == (report.peak_bytes, report.flops)
        assert row["least_ns"] == round(report.roofline("l4")["ns"]) and row["fits"]
        assert (row["calls"], row["parameters"], row["error"]) == (12, 256, None)


def test_one_symbolic_run_serves_a_model(model, monkeypatch):
    made = []
    run = graph.GraphModule._run_case
    monkeypatch.setattr(
        graph.GraphModule, "_run_case", lambda self, *args: (made.append(1), run(self, *args))[1]
    )
    sweeping._loaded.cache_clear()
    assert len(swept([model], {"seq": list(range(2, 30))})) == 28
    assert len(made) == 1


def test_a_failure_is_a_row(model, tmp_path):
    missing, fixed = str(tmp_path / "none.json"), str(tmp_path / "fixed.json")
    programs.write_json(tmp_path / "fixed.json", programs.attention(dynamic=False))
    rows = swept([missing, model, fixed], {"batch": [2, 65]})
    problems = [row["error"] or "" for row in rows]
    assert [bool(problem) for problem in problems] == [True, True, False, True, True, True]
    for problem, text in zip(problems[::2], ("No such file", "", "fixed sizes"), strict=True):
        assert text in problem
    assert "batch = 65: out of range" in problems[3]
    freed = swept([fixed], {"batch": [2, 65]}, free=("x:0=batch",))
    assert [row["error"] for row in freed] == [None, None]


def test_a_size_without_values_is_doubled_within_its_range(model):
    rows = swept([model], {"batch": None})
    assert [row["batch"] for row in rows] == [1, 2, 4, 8, 16, 32, 64]


def test_known_rows_are_not_made_again(model):
    first = swept([model], VARY)
    skip = [key_of(row, VARY) for row in first[1:]]
    assert swept([model], VARY, skip=skip) == first[:1]


def test_many_points_are_several_tasks(model):
    tasks = plan_sweep([model], {"batch": list(range(1, 65))})
    assert [len(task.points) for task in tasks] == [32, 32]


def test_processes_give_the_same_rows(model):
    tasks = plan_sweep([model], {"batch": [2, 3]}, devices=(None, "cuda"))
    found = [row for rows in run_sweep(tasks, jobs=2) for row in rows]
    expected = [row for rows in run_sweep(tasks) for row in rows]
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_a_process_that_ends_is_a_row(model, tmp_path):
    """A worker that cannot be started breaks the pool as one that is killed does."""
    tasks = [task._replace(path=path) for task in plan_sweep([model], {"batch": [2]})
             for path in (model, _Ends())]  # fmt: skip
    rows = [row for rows in run_sweep(tasks, jobs=2) for row in rows]
    found = {str(row["error"]): row["peak_bytes"] for row in rows}
    assert set(found) == {"None", "the process ended: not enough memory, or a crash"}
    assert found["None"] is not None


class _Ends:
    """Ends the process that reads it."""

    def __reduce__(self):
        import os

        return os._exit, (1,)

    def __str__(self):
        return "ends"


def test_a_cluster_gives_the_same_rows(model):
    distributed = pytest.importorskip("distributed")
    tasks = plan_sweep([model, "/nowhere.json"], {"batch": [2, 3]})
    options = {"n_workers": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        found = [r for rows in run_sweep(tasks, scheduler=cluster.scheduler_address) for r in rows]
    expected = [row for rows in run_sweep(tasks) for row in rows]
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("text", "values"),
    [("a", None), ("a=1,2,4", [1, 2, 4]), ("a=8:11", [8, 9, 10, 11]), ("a=1:9:4", [1, 5, 9]),
     ("a=1:20:*4", [1, 4, 16]), ("a=2,2:4,9", [2, 3, 4, 9])],
)  # fmt: skip
def test_values(text, values):
    assert read_vary([text]) == {"a": values}


@pytest.mark.parametrize(
    "text", ["a=", "a=x", "a=3:2", "a=0:9:*2", "a=1:9:0", "a=1:9:*1", "=3", ""]
)
def test_what_is_no_setting(text):
    with pytest.raises(ValueError, match="expected NAME, NAME=1,2,4"):
        read_vary([text])


def test_a_size_is_given_once():
    with pytest.raises(ValueError, match="a is given twice"):
        read_vary(["a=1", "a=2"])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_file_has_the_rows_and_gives_them_back(model, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rows = swept([model], {"batch": [2, 65, 3]}, on=("l4",))
    path = str(tmp_path / f"rows{suffix}")
    with RowFile(path, columns_of(["batch"])) as file:
        file.add(rows[:2])
        file.add(rows[2:])
    again = RowFile(path, columns_of(["batch"]), resume=True)
    assert again.kept == [rows[0], rows[2]]  # the one that failed is tried again
    assert RowFile(path, columns_of(["seq"]), resume=True).kept == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["block.json", f"rows{suffix}"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_an_interrupted_sweep_goes_on(model, tmp_path, suffix):
    """What was written is kept, but for a row that is cut short."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rows = swept([model], {"batch": [2, 3]})
    path = tmp_path / f"rows{suffix}"
    with pytest.raises(KeyboardInterrupt), RowFile(str(path), columns_of(["batch"])) as file:
        file.add(rows)
        raise KeyboardInterrupt
    lines = path if suffix != ".parquet" else tmp_path / "rows.parquet.rows"
    lines.write_text(lines.read_text()[:-3])
    with RowFile(str(path), columns_of(["batch"]), resume=True) as file:
        assert file.kept == rows[:1]
        file.add(rows[1:])
    assert RowFile(str(path), columns_of(["batch"]), resume=True).kept == rows


def test_json_lines_are_plain(model, tmp_path):
    path = tmp_path / "rows.jsonl"
    with RowFile(str(path), columns_of(["batch"])) as file:
        file.add(swept([model], {"batch": [2]}))
    assert json.loads(path.read_text())["peak_bytes"] == graph.load(model).run().peak_bytes


def test_a_name_says_the_format(tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.csv, \.jsonl, \.parquet"):
        RowFile(str(tmp_path / "rows.txt"), [])


def test_more_points_than_a_sweep_has_are_refused():
    """Before they are made: three ranges of 100,000 are 10**15 points."""
    with pytest.raises(ValueError, match="more than 100,000 values"):
        read_vary(["a=1:10000000000"])
    wide = read_vary([f"{name}=1:100000" for name in "abc"])
    with pytest.raises(ValueError, match="1,000,000 are the most"):
        plan_sweep(["model.pt2"], wide)
