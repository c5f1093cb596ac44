"""`dispatch fit`: what it prints and writes, its exit code, and mistakes as one line."""

import json

import pytest

from tests.dispatch.cli.test_commands import invoke
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_sizes import two_symbols


@pytest.fixture
def model(tmp_path):
    return programs.write_json(tmp_path / "two.json", two_symbols())


def test_fit_shows_what_fits(model):
    result = invoke("fit", model, "--memory", "100kB", "--device", "cuda")
    assert result.exit_code == 0, result.output
    for text in ("largest sizes", "largest seq for each batch", "100.0 kB", "fake runs on cuda",
                 "the exported range", "batch = 4, seq = 5"):  # fmt: skip
        assert text in result.output


@pytest.mark.parametrize(("memory", "far"), [("100kB", False), ("100GB", True)])
def test_a_memory_far_above_does_not_press_the_curve_flat(model, memory, far):
    result = invoke("fit", model, "--memory", memory)
    assert ("peak (100.0 GB is far above)" in result.output) is far
    assert ("|- - -" in result.output) is not far


def test_fit_writes_the_answer(model, tmp_path):
    page = tmp_path / "fit.md"
    args = ("--memory", "1MB", "--vary", "seq", "--set", "batch=9", "--markdown", page)
    result = invoke("fit", model, *args, "--json", "-")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert [row["name"] for row in found["largest"]] == ["seq"] and found["frontier"] == []
    assert found["at"]["batch"] == 9 and found["memory"] == 10**6
    assert "what fits in 1.0 MB" in page.read_text() and "| seq |" in page.read_text()


def test_fit_fails_when_nothing_fits(model):
    result = invoke("fit", model, "--memory", "1B")
    assert result.exit_code == 1 and "none" in result.output


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--memory", "1xB"], "--memory: expected an amount like 80GB, got '1xB'"),
        (["--memory", "1GB", "--vary", "bath"], "two.json: no size 'bath': there is batch"),
        (["--memory", "1GB", "--set", "b=99"], "seq = 99: out of range"),
    ],
)
def test_a_mistake_is_one_line(model, args, problem):
    result = invoke("fit", model, *args)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert problem in result.output


def test_charts_and_the_page(model, tmp_path):
    page = tmp_path / "fit.html"
    result = invoke("fit", model, "--memory", "100kB", "--html", page)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    names = [line.strip() for line in lines]
    assert names.count("peak") == 2 and "largest seq" in names
    assert any(line.startswith("100.0 kB |") for line in lines)
    assert "<figcaption>Peak memory by batch" in page.read_text()


def test_a_fixed_size_is_freed(tmp_path):
    path = programs.write_json(tmp_path / "fixed.json", programs.attention(dynamic=False))
    result = invoke("fit", path, "--memory", "1MB", "--free", "x:0=b", "x:1=n", "--json", "-")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert [row["name"] for row in found["largest"]] == ["b", "n"] and len(found["baked"]) == 3
    shown = invoke("fit", path, "--memory", "1MB", "--free", "x:0=b")
    assert "2 numbers baked in, taken as going with them" in " ".join(shown.output.split())
    wrong = invoke("fit", path, "--memory", "1MB", "--free", "x=b")
    assert wrong.exit_code == 2 and "expected INPUT:DIMENSION=NAME" in wrong.output
