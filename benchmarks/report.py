"""Results to text: the head that says where they come from, the table, README's copy of both."""

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from .rows import TITLES

__all__ = ["head", "markdown", "refresh", "result"]

BEGIN, END = "<!-- benchmarks: make bench -->", "<!-- /benchmarks -->"


def head(systems: Iterable[str]) -> dict[str, str]:
    """The machine and the versions that a figure belongs to."""
    return {
        "cpu": f"{_cpu()}, {os.cpu_count()} cores",
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("Cython", "numpy")},
        **dict(system.split(" ") for system in systems),
        "commit": _commit(),
    }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _commit() -> str:
    git = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "none"


def result(name: str, samples: Mapping[str, list[float]]) -> dict[str, Any]:
    """A row of the table: best and median ns of each system, and the ratio of the bests."""
    sides = {
        side: {"best": min(taken), "median": median(taken)} if taken else None
        for side, taken in samples.items()
    }
    ours, theirs = sides.get("ours"), sides.get("theirs")
    ratio = theirs["best"] / ours["best"] if ours and theirs else None
    return {"name": name, "title": TITLES.get(name, name), "ratio": ratio, **sides}


def _ns(side: Mapping[str, float] | None) -> str:
    if side is None:
        return ""
    if side["best"] >= 1e6:
        return f"{side['best'] / 1e6:,.1f} ms ({side['median'] / 1e6:,.1f} ms)"
    return f"{side['best']:,.0f} ({side['median']:,.0f})"


def _cells(row: Mapping[str, Any]) -> list[str]:
    ratio = f"{row['ratio']:,.1f}x" if row["ratio"] else ""
    return [row["title"], _ns(row.get("ours")), _ns(row.get("theirs")), ratio]


def markdown(head: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The head as a sentence, then the table; a column of instructions if they were counted."""
    rows = list(rows)
    about = ", ".join(f"{name} {value}" for name, value in head.items() if name != "cpu")
    asked = any("theirs" in row for row in rows)
    titles = ["call", "dispatch", "PyTorch" if asked else "PyTorch (not asked)", "ratio"]
    cells = [_cells(row) for row in rows]
    if any("instructions" in row for row in rows):
        titles.append("instructions")
        for row, line in zip(rows, cells, strict=True):
            line.append(f"{row['instructions']:,.0f}" if "instructions" in row else "")
    return "\n".join(
        [
            f"{head['cpu']}; {about}.",
            "ns a call: best (median); a process for each system, one thread, interleaved.",
            "",
            _line(titles),
            _line(["---", *["---:"] * (len(titles) - 1)]),
            *map(_line, cells),
        ]
    )


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def refresh(readme: Path, table: str) -> None:
    """Put the table between README's markers."""
    before, begin, rest = readme.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{readme}: expected a line {BEGIN!r} and after it a line {END!r}")
    readme.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
