"""`--set` and `--hardware`: other sizes, estimated times, and what is wrong with either told."""

import json

import pytest

from dispatch.cli.sizes import read_sizes
from tests.dispatch.cli.test_commands import invoke
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_sizes import two_symbols


@pytest.fixture
def model(tmp_path):
    return programs.write_json(tmp_path / "two.json", two_symbols())


@pytest.mark.parametrize(
    "args",
    [
        ["MODEL", "--set", "batch=6", "b=9"],
        ["--set", "batch=6", "b=9", "MODEL"],
        ["--set=batch=6", "b=9", "MODEL"],
        ["--set", "x:0=6", "MODEL", "--set", "x:1=9"],
    ],
)
def test_one_option_takes_all_settings(model, args):
    args = [model if arg == "MODEL" else arg for arg in args]
    result = invoke("inspect", *args, "--json", "-")
    assert result.exit_code == 0, result.output
    assert [row["value"] for row in json.loads(result.output)["sizes"]] == [6, 9]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--set", "batch"], "--set 'batch': expected a setting like batch=64"),
        (["--set", "batch=-1"], "expected a setting like"),
        (["--set", "batch=3", "batch=4"], "batch is set to 3 and to 4"),
        (["--set", "length=3"], "no size 'length': there is batch = x:0"),
        (["--set", "b=65"], "seq = 65: out of range"),
    ],
)
def test_a_mistake_is_one_line(model, args, problem):
    result = invoke("inspect", model, *args)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert problem in result.output


def test_sizes_are_those_of_the_inputs_file(model, tmp_path):
    result = invoke("inspect", model, "--set", "b=9", "--inputs", tmp_path / "none.npz")
    assert result.exit_code == 2 and "the sizes are those of --inputs" in result.output


def test_numbers_may_be_grouped():
    assert read_sizes(["seq = 131_072"]) == {"seq": 131072}


def test_hardware_adds_an_estimate(model, tmp_path):
    page = tmp_path / "summary.md"
    result = invoke("inspect", model, "--hardware", "a100", "--markdown", page)
    assert result.exit_code == 0, result.output
    for text in (" ".join(result.output.split()), page.read_text()):
        assert "estimate of a lower bound" in text and "by operator" in text
        assert "NVIDIA A100" in text and "memory-bound" in text
    result = invoke("inspect", model, "--hardware", "a100", "--json", "-")
    found = json.loads(result.output)["roofline"]
    assert found["hardware"] == "a100" and found["operators"][0]["op"] == "aten::relu"
    folder = invoke("inspect", model.parent, "--hardware", "a100")
    assert "time, at least" in folder.output
    assert "time, at least" not in invoke("inspect", model.parent).output


def test_unknown_hardware_is_one_line(model):
    result = invoke("inspect", model, "--hardware", "b9000")
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "no hardware 'b9000': there is h100" in result.output
