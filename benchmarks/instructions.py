"""Instructions of a call, counted and compared: `python -m benchmarks.instructions`.

`make instructions` counts the hot paths below with callgrind and compares each with
`instructions.json` beside this file: more than 2 % away, up or down, is said, and up is a
failure. A count is the difference between a loop of 2,000 calls and one of 1,000, so that starting
Python, setting up and the loop's frame are not in it; hash seeds are fixed, so that it hardly moves
between runs. Where a call's objects happen to end a page of Python's allocator, each call gives the
page back and takes another, some 250 instructions: a count is the least of processes that hold a
different number of objects. One process runs all rows: callgrind writes a part wherever the worker
calls getppid.
The kept counts are those of a build with the package's own flags (-O2) and the compiler, Python
and numpy that their head names: others are not comparable. `--keep` writes what was counted.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

__all__ = ["HOT", "Moved", "compared", "counted"]

KEPT = Path(__file__).with_suffix(".json")
HOT = (
    "add",
    "packet",
    "view",
    "meta_add",
    "python_kernel",
    "autograd_kernel",
    "mode",
    "subclass",
    "fake_add",
    "fake_view",
    "plus",
    "first_row",
    "sum",
    "function",
    "view_method",
    "factory",
)
TOLERANCE = 0.02
_CALLS = 1_000
_HELD = (0, 5, 11)  # objects of each size
_ROOT = Path(__file__).resolve().parents[1]
# The package of one tree, the rows of this one: what an older build costs is asked the same way.
_RUN = (
    "import os, runpy, sys; sys.path.insert(0, sys.argv.pop(1)); import dispatch; "
    "held = [bytes(n) for n in range(0, 480, 16) for _ in range(int(os.environ['HELD']))]; "
    "sys.path[0] = sys.argv.pop(1); runpy.run_module('benchmarks.worker', run_name='__main__')"
)


class Moved(NamedTuple):
    """A row whose count is not the kept one; `before` is None for a row that was not kept."""

    row: str
    before: int | None
    now: int

    @property
    def is_slower(self) -> bool:
        """Whether a call takes more instructions than it did, beyond the tolerance."""
        return self.before is not None and self.now > self.before

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.row}: {self.now:,.0f}, not kept yet"
        change = self.now / self.before - 1
        return f"{self.row}: {self.before:,.0f} -> {self.now:,.0f} ({change:+.1%})"


def counted(
    rows: Sequence[str], models: Path | None = None, tree: Path = _ROOT
) -> dict[str, int]:
    """Row -> instructions of one call of ours, in the built package below `tree`."""
    counts = [_counted_once(rows, models, tree, held) for held in _HELD]
    return {row: min(count[row] for count in counts) for row in rows}


def _counted_once(
    rows: Sequence[str], models: Path | None, tree: Path, held: int
) -> dict[str, int]:
    more = ("--models", str(models)) if models else ()
    with TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--dump-before=getppid"]
        command += [f"--callgrind-out-file={folder}/part", sys.executable, "-c", _RUN]
        command += [str(tree), str(_ROOT), "ours", *more, "--loops", str(_CALLS), *rows]
        fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "HELD": str(held)}
        environment = {**os.environ, **fixed}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise click.ClickException(done.stderr[-2000:])
        parts = [_total(Path(folder, f"part.{i + 1}")) for i in range(3 * len(rows))]
    return {
        row: round((parts[3 * i + 2] - parts[3 * i + 1]) / _CALLS) for i, row in enumerate(rows)
    }


def _total(part: Path) -> int:
    return int(next(line[8:] for line in part.open() if line.startswith("totals: ")))


def compared(kept: Mapping[str, int], now: Mapping[str, int]) -> list[Moved]:
    """The rows of `now` that are more than 2 % away from the kept count, or have none."""
    return [
        Moved(row, kept.get(row), count)
        for row, count in now.items()
        if row not in kept or abs(count - kept[row]) > TOLERANCE * kept[row]
    ]


def _head() -> dict[str, str]:
    gcc = subprocess.check_output(["gcc", "-dumpfullversion"], text=True).strip()
    return {"machine": platform.machine(), "python": platform.python_version(), "gcc": gcc,
            "cython": version("Cython"), "numpy": version("numpy")}  # fmt: skip


@click.command()
@click.option("--keep", is_flag=True, help="Write the counts to instructions.json.")
@click.option(
    "--tree",
    type=click.Path(exists=True, path_type=Path),
    default=_ROOT,
    help="Another built copy of the repository to count in.",
)
@click.argument("rows", nargs=-1)
def main(keep: bool, tree: Path, rows: tuple[str, ...]) -> None:
    """Count the instructions of ROWS, by default of all hot paths."""
    if not shutil.which("valgrind"):
        raise click.UsageError("valgrind is not installed: nothing can be counted")
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"head": {}, "calls": {}}
    names = rows or HOT
    now = counted(names, tree=tree.resolve())
    for row, count in now.items():
        click.echo(f"{row:16} {count:8,}")
    if keep:
        calls = {**kept["calls"], **now}
        KEPT.write_text(json.dumps({"head": _head(), "calls": calls}, indent=1) + "\n")
        return
    if kept["head"] != _head():
        click.echo(f"kept with {kept['head']}, counted with {_head()}")
    moved = compared(kept["calls"], now)
    for one in moved:
        click.echo(f"moved: {one}")
    if any(one.is_slower or one.before is None for one in moved):
        raise click.ClickException("more instructions than were kept, or a row that was not")


if __name__ == "__main__":
    main()
