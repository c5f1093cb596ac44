"""One system in a process of its own: sets its rows up, then takes samples as it is told.

`python -m benchmarks.worker ours|theirs [--models DIR]` prints one line of JSON when all rows
are warm, then answers each row name on its standard input with one sample. With
`--loops N ROW...` it runs each of these rows in loops of N and of 2 N calls and ends, with a mark
before, between and after them that an instruction counter sees.
"""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from .rows import Row, Sampler

__all__: list[str] = []


def _samplers(
    rows: dict[str, Callable[[], Row]],
) -> tuple[dict[str, Sampler], dict[str, str]]:
    """The rows that work, warmed, and what the others said."""
    samplers, errors = {}, {}
    for name, set_up in rows.items():
        try:
            samplers[name] = Sampler(set_up())
        except Exception as error:  # a row that fails is reported; it must not hide the others
            errors[name] = f"{type(error).__name__}: {error}"
    return samplers, errors


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
    parser.add_argument("--loops", nargs="+", metavar=("N", "ROW"))
    options = parser.parse_args()
    system = importlib.import_module(f".{options.system}", __package__)
    rows = system.rows(options.models)
    if options.loops:
        calls, *names = options.loops
        for name in names:
            _marked(rows[name](), int(calls))
        return
    samplers, errors = _samplers(rows)
    print(json.dumps({"name": system.NAME, "rows": list(samplers), "errors": errors}), flush=True)
    for line in sys.stdin:
        print(samplers[line.strip()].sample(), flush=True)


if __name__ == "__main__":
    _main()
