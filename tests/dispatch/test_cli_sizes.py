"""`--set` on the command line: one takes several settings, and what is no setting is told."""

import json

import pytest

from dispatch.cli_sizes import read_sizes
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_sizes import two_symbols
from tests.dispatch.test_cli import invoke


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
