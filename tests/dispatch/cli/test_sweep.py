"""`dispatch sweep`: the table, the file, going on, exit codes, and mistakes as one line."""

import csv

import pytest

from dispatch.graph.sweep import rows_of
from tests.dispatch.cli.test_commands import invoke
from tests.dispatch.graph import programs


@pytest.fixture
def folder(tmp_path):
    programs.write_json(tmp_path / "a.json", programs.attention())
    programs.write_json(tmp_path / "b.json", programs.attention())
    (tmp_path / "notes.txt").write_text("no model")
    return tmp_path


def test_the_table(folder):
    args = ("--vary", "batch=2,4", "--vary", "seq=8", "--jobs", "1", "--hardware", "a100")
    result = invoke("sweep", folder, *args)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()[1:]]
    assert [line[:4] for line in lines] == [
        [name, "a100", batch, "8"] for name in ("a.json", "b.json") for batch in "24"
    ]
    assert "time, at least" in result.output and "yes" in result.output


def test_the_table_is_in_order_whoever_ends_first(folder, monkeypatch):
    def backwards(tasks, *_):
        return reversed([list(reversed(rows)) for rows in map(rows_of, tasks)])

    monkeypatch.setattr("dispatch.cli.sweep.run_sweep", backwards)
    result = invoke("sweep", folder, "--vary", "batch=2,4")
    lines = [line.split()[:2] for line in result.output.splitlines()[1:]]
    assert lines == [["a.json", "2"], ["a.json", "4"], ["b.json", "2"], ["b.json", "4"]]


def test_the_file_is_gone_on_with(folder):
    rows = folder / "rows.csv"
    args = ("sweep", folder / "a.json", folder / "b.json", "--output", rows, "--jobs", "1")
    result = invoke(*args, "--vary", "batch=2,100")
    assert result.exit_code == 1 and "2 of 4 rows have an error" in result.output
    first = csv.DictReader(rows.read_text().splitlines())
    assert [row["batch"] for row in first] == ["2", "100"] * 2
    result = invoke(*args, "--vary", "batch=2,3", "--resume")
    assert result.exit_code == 0, result.output
    found = list(csv.DictReader(rows.read_text().splitlines()))
    assert sorted(row["batch"] for row in found) == ["2", "2", "3", "3"]
    assert all(row["peak_bytes"] and not row["error"] for row in found)


def test_a_missing_model_is_a_row(folder):
    result = invoke("sweep", folder / "a.json", folder / "none.json", "--jobs", "1")
    assert result.exit_code == 1
    assert "none.json: No such file" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--vary", "batch=x"], "--vary 'batch=x': expected NAME"),
        (["--output", "rows.txt"], "rows.txt: expected a name that ends in .csv"),
        (["--hardware", "b9000"], "no hardware 'b9000'"),
        (["--free", "x=n"], "expected INPUT:DIMENSION=NAME"),
    ],
)
def test_a_mistake_is_one_line(folder, args, problem):
    result = invoke("sweep", folder / "a.json", *args)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert problem in result.output


def test_nothing_to_sweep(tmp_path):
    result = invoke("sweep", tmp_path)
    assert result.exit_code == 2 and "a folder without a model" in result.output
    result = invoke("sweep", tmp_path / "x.json", tmp_path)  # beside others too
    assert result.exit_code == 2 and "a folder without a model" in result.output
    result = invoke("sweep", tmp_path / "x.json", "--resume")
    assert result.exit_code == 2 and "--resume goes with --output" in result.output


def test_a_model_is_not_written_over(folder):
    model = folder / "c.csv"
    model.write_text("{}")
    result = invoke("sweep", model, "--output", model)
    assert result.exit_code == 2 and "would write over" in result.output
    assert model.read_text() == "{}"
