"""`dispatch ops --coverage`: kernels of each operator, recorded calls, the page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dispatch import cli
from dispatch.cli.coverage import coverage, family_rows, markdown, replayed

ROOT = Path(__file__).parents[3]
REPLAY = """
import json, sys
counts = {"aten::cumsum": {"values": {"pass": 3, "fail": 1}, "fake": {"pass": 4}}}
open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps({"overloads": counts}))
"""


def invoke(*args):
    return CliRunner().invoke(cli.main, ["ops", *map(str, args)])


@pytest.fixture
def recorded(tmp_path):
    """A folder of recorded calls; the script that replays it lies beside it."""
    (tmp_path / "replay_dispatch.py").write_text(REPLAY)
    folder = tmp_path / "operators"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "family", "kernels"),
    [
        ("aten::cumsum.out", "scan", ("kernel", "kernel", "", "fallback")),
        ("aten::view_as", "views", ("", "", "ImplicitAutograd", "decomposed")),
        ("aten::_nnz", "without a kernel", ("", "", "", "fallback")),
        ("aten::absolute", "made from others", ("", "", "ImplicitAutograd", "decomposed")),
    ],
)
def test_an_operator_has_a_family_and_kernels(name, family, kernels):
    (row,) = coverage([name])
    assert (row.family, tuple(row.kernels.values())) == (family, kernels)


def test_what_is_made_from_an_operator_belongs_to_its_family():
    rows = coverage(["aten::add.Tensor", "aten::add.Scalar", "aten::add_.Scalar"])
    assert {row.family for row in rows} == {"elementwise"}


def test_totals_count_operators_and_what_has_no_kernel():
    rows = coverage(["aten::cumsum.out", "aten::_nnz", "aten::cumsum"])
    *families, total = family_rows(rows)
    assert [(f["family"], f["operators"], f["none"]) for f in families] == [
        ("scan", 2, 0),
        ("without a kernel", 1, 1),
    ]
    assert (total["operators"], total["CPU"], total["none"]) == (3, 2, 1)


def test_the_command_prints_operators_and_totals():
    result = invoke("--coverage", "aten::cumsum*")
    assert result.exit_code == 0
    assert "aten::cumsum.out" in result.output
    assert result.output.splitlines()[-1].split()[0] == "total"


def test_recorded_calls_are_replayed_and_counted(recorded):
    found = json.loads(invoke("cumsum", "--coverage", "--json", "--cases", recorded).output)
    (row,) = (row for row in found["operators"] if row["name"] == "aten::cumsum")
    assert (row["passed"], row["cases"]) == (7, 8)
    assert found["families"][-1]["cases"] == 8
    assert "| scan | 7 | 8 |" in markdown(coverage(["aten::cumsum"], replayed(recorded)))
    printed = invoke("aten::cumsum", "--coverage", "--cases", recorded).output
    assert ["7", "8"] in [line.split()[-2:] for line in printed.splitlines()]


def test_a_folder_without_a_replay_is_the_users_mistake(tmp_path):
    result = invoke("--coverage", "--cases", tmp_path)
    assert result.exit_code == 2
    assert "no replay_dispatch.py in it or beside it" in result.output


def test_options_of_the_coverage_need_it():
    assert invoke("--json").exit_code == 2


def test_the_page_of_the_docs_is_up_to_date():
    """What was replayed is not compared: recorded calls lie outside the repository."""
    command = [sys.executable, "-m", "dispatch", "ops", "--coverage", "--markdown"]
    now = subprocess.check_output(command, cwd=ROOT, text=True)
    written, _, _ = (ROOT / "docs" / "coverage.md").read_text().partition("\n## Recorded calls")
    assert written.rstrip() == now.rstrip(), "docs/coverage.md: run `make coverage`"
