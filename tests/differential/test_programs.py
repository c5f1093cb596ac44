"""Every program logs here what PyTorch logged."""

import json
import subprocess
import sys

import pytest

from tests.differential.__main__ import HERE, areas, public

RECORDED = HERE / "recorded"


def logs_of(python, side, area):
    command = [python, "-m", "tests.differential", "--side", side, "--json", area]
    out = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert out.returncode == 0, out.stderr[-3000:]
    return json.loads(out.stdout.splitlines()[-1])[area]


@pytest.mark.parametrize("area", areas())
def test_logs_equal_the_recorded_ones(area):
    want = json.loads((RECORDED / f"{area}.json").read_text())
    got = {name: public(lines) for name, lines in logs_of(sys.executable, "dispatch", area).items()}
    assert sorted(got) == sorted(want)
    differing = [name for name in want if got[name] != want[name]]
    assert not differing, {name: (want[name], got[name]) for name in differing}


@pytest.mark.parametrize("area", areas())
def test_recording_is_what_this_pytorch_says(area):
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13"):
        pytest.skip("recorded with PyTorch 2.13")
    want = json.loads((RECORDED / f"{area}.json").read_text())
    got = {name: public(lines) for name, lines in logs_of(sys.executable, "torch", area).items()}
    assert got == want
