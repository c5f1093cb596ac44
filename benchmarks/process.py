"""A system's process, as the one that prints sees it: what it says about itself, and samples.

The worker sets a row up when it is first asked for it and keeps only the last one, so rows are
asked for one after the other, each as often as wanted.
"""

import json
import os
import subprocess
from collections.abc import Iterable
from contextlib import ExitStack

import click

__all__ = ["Worker"]

_POOLS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Worker:
    """One system's process; it ends with the stack."""

    def __init__(
        self,
        stack: ExitStack,
        python: str,
        system: str,
        options: Iterable[str] = (),
        threads: int = 1,
    ) -> None:
        command = [python, "-m", "benchmarks.worker", system, *options]
        quiet = {"PYTHONWARNINGS": "ignore", "TORCH_CPP_LOG_LEVEL": "ERROR"}
        pools = dict.fromkeys(_POOLS, str(threads))
        pipe = subprocess.Popen(
            command,
            env={**os.environ, **quiet, **pools},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert pipe.stdin and pipe.stdout
        stack.enter_context(pipe)
        self._to, self._from = pipe.stdin, pipe.stdout
        about = self._answer(f"{' '.join(command)}: ended before it was ready")
        self.name: str = about["name"]
        self.rows: list[str] = about["rows"]

    def sample(self, row: str) -> float:
        """One sample of a row, in ns a call; RuntimeError for one that cannot be run."""
        self._to.write(f"{row}\n")
        self._to.flush()
        answer = self._answer(f"{self.name} ended in row {row}")
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return float(answer["ns"])

    def _answer(self, if_none: str) -> dict:
        line = self._from.readline()
        if not line:
            raise click.ClickException(if_none)
        return json.loads(line)
