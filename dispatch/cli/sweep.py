"""`dispatch sweep`: a row of figures for each of many models at many sizes.

The work is `graph.sweep`, in processes of this machine or on a dask cluster; here are its options,
the progress on standard error, and the table at the end, when no file was asked for. Exit code 1:
some row has an error.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dispatch.cli.console import UserError, draw, standard_output, user_errors
from dispatch.cli.files import MODEL_SUFFIXES, check_paths
from dispatch.cli.imports import import_option, imported
from dispatch.cli.sizes import SizesCommand, free_option
from dispatch.graph import text
from dispatch.graph.freeing import read_free
from dispatch.graph.hardware import hardware
from dispatch.graph.sweep import Row, Task, columns_of, key_of, plan_sweep, read_vary, run_sweep
from dispatch.graph.sweep_files import RowFile, check_output

__all__ = ["sweep"]


@click.command(cls=SizesCommand, short_help="Figures of many models at many sizes.")
@click.argument("models", nargs=-1, required=True, type=click.Path())
@click.option(
    "--vary", multiple=True, metavar="NAME[=VALUES]",
    help="Sizes: batch=1,2,4 or seq=128:1024:128 or seq=128:1024:*2; without values doubled "
    "from the smallest. May be given again: all combinations.",
)  # fmt: skip
@free_option
@import_option
@click.option("--device", "devices", multiple=True, help="Run as if on this device; several: all.")
@click.option("--hardware", "on", multiple=True, help="Estimate the least time there too.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; else one for each core.")
@click.option("--scheduler", help="The address of a dask scheduler, whose workers do it instead.")
@click.option(
    "--output", type=click.Path(dir_okay=False), help="Write rows: X.csv, X.jsonl or X.parquet."
)
@click.option("--resume", is_flag=True, help="Go on with what --output has; errors are retried.")
@click.pass_context
def sweep(
    context: click.Context,
    models: tuple[str, ...],
    vary: tuple[str, ...],
    free: tuple[str, ...],
    devices: tuple[str, ...],
    on: tuple[str, ...],
    jobs: int | None,
    scheduler: str | None,
    output: str | None,
    resume: bool,
) -> None:
    """Peak memory, FLOPs and more of MODELS (files, folders of them) at many sizes.

    Exit code 0: all rows have figures; 1: some have an error.
    """
    if resume and output is None:
        raise click.UsageError("--resume goes with --output")
    with _needed(), user_errors():
        if output is not None:
            check_paths({"--output": output}, {f"MODEL {path}": path for path in models})
            check_output(output)
        wanted = read_vary(vary)
        read_free(free)
        for name in on:
            hardware(name)
        with ExitStack() as stack:
            file, rows = None, []
            if output is not None:
                file = stack.enter_context(RowFile(output, columns_of(wanted), resume))
                rows = list(file.kept)
            tasks = plan_sweep(
                _files(models), wanted, devices=devices or (None,), free=free, on=on or (None,),
                skip=[key_of(row, wanted) for row in rows], imports=imported(context),
            )  # fmt: skip
            results = run_sweep(tasks, jobs or os.cpu_count() or 1, scheduler)
            for found in _shown(results, len(tasks)):
                rows += found
                if file is not None:
                    file.add(found)
    failed = sum(row["error"] is not None for row in rows)
    if output is None:
        _print(_ordered(rows, tasks, list(wanted)), list(wanted))
    elif failed:
        click.echo(f"{failed} of {len(rows)} rows have an error", err=True)
    if failed:
        context.exit(1)


@contextmanager
def _needed() -> Iterator[None]:
    """What is an extra and not installed is one line."""
    try:
        yield
    except ImportError as error:
        raise UserError(str(error)) from None


def _files(models: Sequence[str]) -> list[str]:
    """The models, a folder's in order of their names."""
    found: list[str] = []
    for path in models:
        if os.path.isdir(path):
            names = [name for name in sorted(os.listdir(path)) if name.endswith(MODEL_SUFFIXES)]
            if not names:
                raise UserError(f"{path}: a folder without a model ({', '.join(MODEL_SUFFIXES)})")
            found += [os.path.join(path, name) for name in names]
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _shown(results: Iterator[list[Row]], count: int) -> Iterator[list[Row]]:
    """The same, with a bar on standard error when somebody sees it."""
    columns = TextColumn("sweeping"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task("", total=count)
        for found in results:
            yield found
            bar.advance(task)


def _ordered(rows: Sequence[Row], tasks: Sequence[Task], names: Sequence[str]) -> list[Row]:
    """The rows in order of the tasks and, within a model, of the sizes: processes end in any."""
    places = {(task.path, task.device, task.hardware): place for place, task in enumerate(tasks)}

    def place(row: Row) -> tuple[int, ...]:
        sizes = [row[name] or 0 for name in names]
        return places[row["model"], row["device"], row["hardware"]], *sizes

    return sorted(rows, key=place)


def _print(rows: Sequence[Row], names: Sequence[str]) -> None:
    columns = ["model", "device", "hardware", *names, "peak", "FLOPs", "time, at least", "fits",
               "error"]  # fmt: skip
    cells = [
        [
            os.path.basename(row["model"]),
            row["device"] or "",
            row["hardware"] or "",
            *("" if row[name] is None else f"{row[name]:,}" for name in names),
            text.bytes_text(row["peak_bytes"]) if row["peak_bytes"] is not None else "",
            text.count_text(row["flops"]) if row["flops"] is not None else "",
            text.time_text(row["least_ns"]),
            {True: "yes", False: "NO"}.get(row["fits"], ""),
            row["error"] or "",
        ]
        for row in rows
    ]
    table = text.Table("sweep", tuple(columns), ("model", "device", "hardware", "error"), cells)
    console = standard_output()
    console.print(draw(table, console.width))
