"""`make build` ends with the bytecode of the package, whether or not imports may write it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(
    not shutil.which("make") or not (ROOT / "Makefile").exists() or sys.prefix == sys.base_prefix,
    reason="needs make, the tree and a virtual environment",
)
def test_a_build_leaves_bytecode(tmp_path):
    (tmp_path / "dispatch" / "room").mkdir(parents=True)
    (tmp_path / "dispatch" / "room" / "late.py").write_text("found = 1\n")
    told = subprocess.run(
        ["make", "-n", "build", f"VENV={sys.prefix}"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    ).stdout.splitlines()
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(told[-1], shell=True, cwd=tmp_path, env=environ, check=True)
    (made,) = (tmp_path / "dispatch" / "room" / "__pycache__").iterdir()
    assert made.name.startswith("late.")
