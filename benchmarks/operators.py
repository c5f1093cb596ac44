"""`python -m benchmarks operators`: every recorded overload, here and in PyTorch, in turn.

Small inputs: the first recorded call of each overload, from a folder of cases. `--large`: a million
elements and the sizes of real models. Printed are the ratios by family, and the slowest rows. A
ratio above 1 means faster than PyTorch. What one side cannot do is named, and left out of ratios.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import click

from . import large, report
from .cases import first_cases
from .process import Worker

__all__ = ["command", "families", "summary"]

_RECORDED = Path(__file__).resolve().parents[2] / "shared" / "golden" / "operators"
_SLOWEST = 30
Result = dict[str, Any]


def families(rows: Iterable[Result], family_of: Callable[[str], str]) -> Iterator[Result]:
    """For each family, and last for all of them: how many rows, and their ratios."""
    rows = [row for row in rows if row["ratio"]]
    groups: dict[str, list[float]] = {}
    for row in rows:
        groups.setdefault(family_of(row["name"]), []).append(row["ratio"])
    for family, ratios in [*sorted(groups.items()), ("all", [row["ratio"] for row in rows])]:
        if ratios:
            yield {
                "family": family,
                "rows": len(ratios),
                "median": median(ratios),
                "least": min(ratios),
                "as fast": sum(ratio >= 1 for ratio in ratios) / len(ratios),
            }


def summary(rows: list[Result], family_of: Callable[[str], str]) -> str:
    """The table by family, and the rows that are furthest behind."""
    lines = ["| family | rows | median | least | at least as fast |", "|---|---:|---:|---:|---:|"]
    for each in families(rows, family_of):
        lines.append(
            f"| {each['family']} | {each['rows']} | {each['median']:.2f}x | {each['least']:.2f}x"
            f" | {each['as fast']:.0%} |"
        )
    slowest = sorted((row for row in rows if row["ratio"]), key=lambda row: row["ratio"])
    lines += ["", "| slowest | dispatch | PyTorch | ratio |", "|---|---:|---:|---:|"]
    for row in slowest[:_SLOWEST]:
        best = (row[side]["best"] for side in ("ours", "theirs"))
        ours, theirs = (f"{ns / 1000:,.1f} us" for ns in best)
        lines.append(f"| `{row['name']}` | {ours} | {theirs} | {row['ratio']:.2f}x |")
    return "\n".join(lines)


def _family_of(is_large: bool, names: Iterable[str]) -> Callable[[str], str]:
    if is_large:
        found = {text: family for family, texts in large.FAMILIES.items() for text in texts}
    else:
        from dispatch.cli.coverage import coverage, known

        found = {row.name: row.family for row in coverage(known(names))}
    return lambda name: found.get(name, "not here")


def _timed(
    workers: Mapping[str, Worker], names: Iterable[str], rounds: int
) -> Iterator[tuple[Result, dict[str, str]]]:
    """Each row's result, and what a side said that could not do it."""
    for name in names:
        samples: dict[str, list[float]] = {side: [] for side in workers}
        errors: dict[str, str] = {}
        for _ in range(rounds):
            for side, worker in workers.items():
                if side not in errors:
                    try:
                        samples[side].append(worker.sample(name))
                    except RuntimeError as error:
                        errors[side] = str(error)
        for side in errors:
            samples[side] = []
        yield report.result(name, samples), errors


@click.command("operators")
@click.option(
    "--torch-python", envvar="TORCH_PYTHON", metavar="PYTHON", help="A Python that has torch."
)
@click.option(
    "--cases",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of recorded calls (default: the one beside the project).",
)
@click.option("--large", "is_large", is_flag=True, help="Large tensors instead.")
@click.option("--op", "pattern", default="", metavar="REGEX", help="Only rows whose name matches.")
@click.option("--threads", default=1, show_default=True, help="Threads of each side.")
@click.option("--rounds", default=3, show_default=True, help="Samples of each row.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write results here.")
def command(
    torch_python: str | None,
    cases: Path | None,
    is_large: bool,
    pattern: str,
    threads: int,
    rounds: int,
    json_file: Path | None,
) -> None:
    """Time operators, here and in PyTorch in turn."""
    folder = (cases or _RECORDED).resolve()
    if not is_large and not folder.is_dir():
        raise click.UsageError("no recorded calls beside the project; name a folder by --cases")
    rows_of = ["--large"] if is_large else ["--cases", str(folder)]
    pythons = {"ours": sys.executable} | ({"theirs": torch_python} if torch_python else {})
    options = [*rows_of, "--threads", str(threads)]
    with ExitStack() as stack:
        workers = {
            side: Worker(stack, python, side, options, threads) for side, python in pythons.items()
        }
        if is_large:
            every = [text for texts in large.FAMILIES.values() for text in texts]
        else:
            every = sorted(case["overload"] for _, case in first_cases(folder))
        names = [name for name in every if re.search(pattern, name)]
        rows, missing = [], {}
        for row, errors in _timed(workers, names, rounds):
            rows.append(row)
            if errors:
                missing[row["name"]] = errors
        head = report.head(worker.name for worker in workers.values())
    about = ", ".join(f"{name} {value}" for name, value in head.items() if name != "cpu")
    click.echo(f"{head['cpu']}; {about}; {threads} thread(s) each.\n")
    if torch_python:
        click.echo(summary(rows, _family_of(is_large, names)))
    else:
        for row in rows:
            if row["ours"]:
                click.echo(f"{row['name']}: {row['ours']['best']:,.0f} ns")
    for side in pythons:
        absent = [name for name, errors in missing.items() if side in errors]
        if absent:
            click.echo(f"\n{side}: {len(absent)} rows could not be timed: {', '.join(absent)}")
    if json_file:
        found = {"head": head, "threads": threads, "rows": rows, "errors": missing}
        json_file.write_text(json.dumps(found, indent=1) + "\n")
