"""`python -m benchmarks`: time every row, print the table; `operators`: every operator instead.

Rounds go row by row, one sample of ours and one of PyTorch's in turn, so that a noisy moment
meets both. Imports are timed in fresh processes, in turn as well. Instructions, if asked for, are
counted as `instructions` does.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from . import instructions, operators, report
from .process import Worker

_IMPORTED = {"ours": "dispatch", "theirs": "torch"}
_TIME_IMPORT = "import time; t = time.perf_counter_ns(); import {}; print(time.perf_counter_ns()-t)"


def _call_rows(
    workers: dict[str, Worker], rounds: int, failed: list[str]
) -> Iterator[dict[str, Any]]:
    names = dict.fromkeys(row for worker in workers.values() for row in worker.rows)
    for row in names:
        samples: dict[str, list[float]] = {side: [] for side in workers}
        able = {side: worker for side, worker in workers.items() if row in worker.rows}
        for _ in range(rounds):
            for side, worker in list(able.items()):
                try:
                    samples[side].append(worker.sample(row))
                except RuntimeError as error:
                    failed.append(f"{worker.name}: {row}: {error}")
                    del able[side]
        yield report.result(row, samples)


def _import_rows(pythons: dict[str, str], processes: int) -> Iterator[dict[str, Any]]:
    """`import` of numpy, and of each system, in fresh processes and in turn."""
    runs = [("numpy", sys.executable)]
    runs += [(_IMPORTED[side], python) for side, python in pythons.items()]
    taken: dict[str, list[float]] = {module: [] for module, _ in runs}
    for _ in range(processes):
        for module, python in runs:
            said = subprocess.check_output([python, "-c", _TIME_IMPORT.format(module)])
            taken[module].append(float(said))
    yield report.result("import_numpy", {"ours": taken["numpy"]})
    yield report.result("import", {side: taken[_IMPORTED[side]] for side in pythons})


def _add_instructions(rows: list[dict[str, Any]], models: Path | None) -> None:
    asked = [row for row in rows
             if row.get("ours") and not row["name"].startswith(("import", "model_"))]  # fmt: skip
    counts = instructions.counted([row["name"] for row in asked], models)
    for row in asked:
        row["instructions"] = counts[row["name"]]


@click.group(invoke_without_command=True)
@click.pass_context
@click.option("--torch-python", metavar="PYTHON", help="A Python that has torch.")
@click.option(
    "--models",
    type=click.Path(exists=True, path_type=Path),
    help="A folder with exported programs of real size (NAME.aten.json.gz).",
)
@click.option("--rounds", default=15, show_default=True, help="Samples of each row.")
@click.option("--processes", default=20, show_default=True, help="Processes for an import.")
@click.option("--instructions", "counting", is_flag=True, help="Count them too (needs valgrind).")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write results here.")
@click.option("--readme", is_flag=True, help="Refresh the table in README.md.")
def main(
    context: click.Context,
    torch_python: str | None,
    models: Path | None,
    rounds: int,
    processes: int,
    counting: bool,
    json_file: Path | None,
    readme: bool,
) -> None:
    """Time the call paths and print the table."""
    if context.invoked_subcommand is not None:
        return
    if counting and not shutil.which("valgrind"):
        raise click.UsageError("--instructions needs valgrind")
    models = models and models.resolve()
    pythons = {"ours": sys.executable} | ({"theirs": torch_python} if torch_python else {})
    failed: list[str] = []
    with ExitStack() as stack:
        options = ["--models", str(models)] if models else []
        workers = {side: Worker(stack, python, side, options) for side, python in pythons.items()}
        rows = list(_call_rows(workers, rounds, failed))
    rows += _import_rows(pythons, processes)
    if counting:
        _add_instructions(rows, models)
    head = report.head(worker.name for worker in workers.values())
    table = report.markdown(head, rows)
    click.echo(table)
    if json_file:
        json_file.write_text(json.dumps({"head": head, "rows": rows}, indent=1) + "\n")
    if readme:
        report.refresh(Path("README.md"), table)
    if failed:
        raise click.ClickException("rows that could not be run:\n" + "\n".join(failed))


main.add_command(operators.command)

if __name__ == "__main__":
    main()
