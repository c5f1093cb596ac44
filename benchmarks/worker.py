"""One system in a process of its own: sets a row up when it is asked for, and takes samples.

`python -m benchmarks.worker ours|theirs [--models DIR]` prints one line of JSON that names its
rows, then answers each row name on its standard input with a line: a sample, or an error. `--cases`
and `--large` name other rows than those of the README. With `--loops N ROW...` it runs each of
these rows in loops of N and of 2 N calls and ends, with a mark before, between and after them that
an instruction counter sees.
"""

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .rows import Row, Sampler

__all__: list[str] = []

_OPERATOR_SECONDS = 0.004
_OPERATOR_SECONDS_OF_THREADS = 0.02
_SETTLED_SECONDS = 0.01  # after which the other side's threads have stopped to wait in a loop


class _Samplers:
    """The row that was asked for last, warmed; one that fails must not hide the others."""

    def __init__(self, rows: dict[str, Callable[[], Row]], **options: Any) -> None:
        self._rows = rows
        self._options = options
        self._name: str | None = None
        self._sampler: Sampler | None = None

    def answer(self, name: str) -> dict[str, Any]:
        """A sample, or what went wrong."""
        try:
            if name != self._name:
                self._name = self._sampler = None
                self._sampler = Sampler(self._rows[name](), **self._options)
                self._name = name
            assert self._sampler is not None
            return {"ns": self._sampler.sample()}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


def _marked(row: Row, calls: int) -> None:
    row.run(calls)
    os.getppid()
    row.run(calls)
    os.getppid()
    row.run(2 * calls)
    os.getppid()


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=["ours", "theirs"])
    parser.add_argument("--models", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--loops", nargs="+", metavar=("N", "ROW"))
    options = parser.parse_args()
    system = importlib.import_module(f".{options.system}", __package__)
    system.set_threads(options.threads)
    many = options.threads > 1
    seconds = _OPERATOR_SECONDS_OF_THREADS if many else _OPERATOR_SECONDS
    sampling = {"seconds": seconds} if options.cases or options.large else {}
    if options.cases:
        rows = importlib.import_module(".cases", __package__).rows(system.API, options.cases)
    elif options.large:
        rows = importlib.import_module(".large", __package__).rows(system.API)
    else:
        rows = system.rows(options.models)
    if options.loops:
        calls, *names = options.loops
        for name in names:
            _marked(rows[name](), int(calls))
        return
    samplers = _Samplers(rows, **sampling)
    print(json.dumps({"name": system.NAME, "rows": list(rows)}), flush=True)
    for line in sys.stdin:
        if many:
            time.sleep(_SETTLED_SECONDS)
        print(json.dumps(samplers.answer(line.strip())), flush=True)


if __name__ == "__main__":
    _main()
