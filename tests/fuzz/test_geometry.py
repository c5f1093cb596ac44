import os
import subprocess
import sys
from pathlib import Path

ONLY = (
    r"^x\.normal_|^x\[x > 0|constant_pad_nd\(x|roll\(x, \[7\]\)$|layer_norm\(hidden"
    r"|masked_scatter|repeat\(x|take\("
)


def test_other_threads_may_change_the_tensors_of_a_call():
    command = [sys.executable, "-m", "tests.fuzz.geometry", "--seconds", "0.4", "--only", ONLY]
    environment = {**os.environ, "PYTHONPATH": "."}
    ended = subprocess.run(
        command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr[-2000:]
    assert "0 ended badly" in ended.stdout
