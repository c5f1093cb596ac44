"""`dispatch inspect` and `dispatch diff`: what exported models need, and what changed between two.

A model is loaded and run by `graph`; what is shown are the tables of `graph.text` and
`graph.diff`. Standard output has the answer alone: the progress of a long run goes to standard
error, and a report that is asked for there (`--json -`) stands there by itself.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dispatch import graph
from dispatch.cli.console import UserError, draw, grid, plain, standard_output, user_errors
from dispatch.cli.files import MODEL_SUFFIXES, check_paths, showing, write_reports
from dispatch.cli.imports import import_option
from dispatch.cli.sizes import SizesCommand, free_option, load, read_sizes
from dispatch.graph import text
from dispatch.graph.checks import Check, read_check
from dispatch.graph.diff import Difference, compare
from dispatch.graph.folder import folder_page, folder_table
from dispatch.graph.hardware import Hardware, hardware
from dispatch.graph.html import html_page
from dispatch.graph.inputs import read_inputs
from dispatch.graph.saved import read_report

__all__ = ["diff", "inspect"]

_PROGRESS_AFTER_SECONDS = 0.5
_WARM_UP_BELOW_NS = 1_000_000_000
_FEW = 12  # rows of a table that is not asked for by an option
Json = dict[str, Any]
_OUTPUT = click.Path(readable=False)


@click.command(cls=SizesCommand, short_help="What a model needs: memory, modules, operators.")
@click.argument("model", type=click.Path())
@click.option(
    "--set", "sizes", multiple=True, metavar="NAME=SIZE...",
    help="Other sizes than the recorded ones, where the program leaves them open: "
    "batch=64 seq=2048.",
)  # fmt: skip
@free_option
@import_option
@click.option(
    "--symbolic", is_flag=True,
    help="Sizes, memory and operations as expressions of the open sizes too.",
)  # fmt: skip
@click.option("--fake/--cpu", "fake", default=True, help="Fake tensors (default), or for real.")
@click.option("--device", help="Run as if on this device (fake only), such as cuda.")
@click.option(
    "--hardware", "device_name",
    help="Estimate the least time on h100, a100, l4, mi300x, cpu, or what FILE.yaml describes.",
)  # fmt: skip
@click.option("--inputs", type=click.Path(), help="An .npz file with the inputs, in order.")
@click.option("--random-weights", is_flag=True, help="With --cpu: make up weights without data.")
@click.option("--ops", "list_ops", is_flag=True, help="List every call.")
@click.option("--modules", "list_modules", is_flag=True, help="The whole tree of modules.")
@click.option("--depth", type=click.IntRange(0), help="Of the tree of modules.")
@click.option("--alive", type=click.IntRange(0), help="What is there during this call.")
@click.option("--json", "json_path", type=_OUTPUT, help="Write the report; - is stdout.")
@click.option("--html", "html_path", type=_OUTPUT, help="Write a page; - is stdout.")
@click.option("--markdown", "markdown_path", type=_OUTPUT, help="Write a summary; - is stdout.")
@click.option(
    "--assert", "checks", multiple=True, metavar="CHECK",
    help="Fail (exit code 1) unless this holds: 'peak_bytes < 16GB'. May be given again.",
)  # fmt: skip
@click.pass_context
def inspect(
    context: click.Context,
    model: str,
    sizes: tuple[str, ...],
    free: tuple[str, ...],
    symbolic: bool,
    fake: bool,
    device: str | None,
    device_name: str | None,
    inputs: str | None,
    random_weights: bool,
    list_ops: bool,
    list_modules: bool,
    depth: int | None,
    alive: int | None,
    json_path: str | None,
    html_path: str | None,
    markdown_path: str | None,
    checks: tuple[str, ...],
) -> None:
    """Load MODEL (.pt2, .json, .json.gz, a folder of them; - is standard input), run it, and
    report memory, modules, operators and operations."""
    written = {"--json": json_path, "--html": html_path, "--markdown": markdown_path}
    model = "/dev/stdin" if model == "-" else model
    options: Json = {"fake": fake, "device": device, "random_weights": random_weights}
    tables = _Tables(list_ops, list_modules, depth, alive)
    with user_errors():
        check_paths(written, {"MODEL": model, "--inputs": inputs, "--hardware": device_name})
        wanted = [read_check(check) for check in checks]
        options["sizes"] = read_sizes(sizes)
        options["symbolic"], options["free"] = symbolic, free
        if symbolic and (inputs or not fake):
            raise UserError("--symbolic: takes sizes (--set), not --inputs nor --cpu")
        on = hardware(device_name) if device_name is not None else None
        if inputs and sizes:
            raise UserError("--set: the sizes are those of --inputs: give one of them")
        if os.path.isdir(model):
            for name, given in (("--inputs", inputs), *tables.options()):
                if given:
                    raise UserError(f"{model}: a folder: {name} takes a file")
            answer = _inspect_folder(model, options, on, wanted, written)
        else:
            answer = _inspect_file(model, inputs, options, on, wanted, written, tables)
    answer.show()
    for line in answer.failed:
        click.echo(plain(f"failed: {line}").plain, err=True)
    if answer.failed:
        context.exit(1)


class _Tables(NamedTuple):
    """What the user asks to see."""

    ops: bool
    modules: bool
    depth: int | None
    alive: int | None

    def options(self) -> Iterator[tuple[str, bool]]:
        """The options, and whether they were given."""
        yield "--ops", self.ops
        yield "--modules", self.modules
        yield "--depth", self.depth is not None
        yield "--alive", self.alive is not None


class _Answer(NamedTuple):
    """What goes to standard output, and the checks that do not hold."""

    show: Callable[[], None]
    failed: list[str]


# -- running ------------------------------------------------------------------------------------


def _run(
    path: str,
    inputs: str | None,
    fake: bool,
    device: str | None,
    random_weights: bool,
    sizes: Mapping[str, int],
    symbolic: bool = False,
    free: Iterable[str] = (),
) -> graph.Report:
    module = load(path, free)
    given = read_inputs(inputs) if inputs is not None else []
    if not fake:
        missing = module.without_data()
        if missing and not random_weights:
            names = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
            raise UserError(
                plain(
                    f"{path}: no data for {len(missing)} weights ({names}): "
                    "--random-weights makes them up; without --cpu none are needed"
                ).plain
            )
        module.fill_missing_weights()
    with _late_progress(module.n_calls) as progress:
        report = module.run(
            *given, fake=fake, device=device, progress=progress, sizes=sizes, symbolic=symbolic
        )
    if not fake and report.wall_ns < _WARM_UP_BELOW_NS:
        # Kernels are imported at their first call, which would be most of a short run's time.
        return module.run(*given, fake=False, device=device, sizes=sizes)
    return report


@contextmanager
def _late_progress(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error that appears once a run has turned out to be long."""
    console = Console(stderr=True)
    columns = TextColumn("running"), BarColumn(), MofNCompleteColumn()
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=total)
    begin = time.monotonic()

    def advance(done: int) -> None:
        if console.is_terminal and time.monotonic() - begin > _PROGRESS_AFTER_SECONDS:
            bar.start()
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


# -- one model ----------------------------------------------------------------------------------


def _inspect_file(
    path: str,
    inputs: str | None,
    options: Json,
    on: Hardware | None,
    checks: list[Check],
    written: Mapping[str, str | None],
    wish: _Tables,
) -> _Answer:
    report = _run(path, inputs, **options)
    found = _with_estimate(report, on)
    if wish.alive is not None and wish.alive >= len(found["calls"]):
        raise UserError(f"{path}: no call {wish.alive}: it has {len(found['calls'])}")
    results = [(check, check.holds(found)) for check in checks]
    passed = [(str(check), ok) for check, ok in results]
    content = write_reports(
        written,
        {
            "--json": lambda: json.dumps(found) + "\n",
            "--html": lambda: html_page(found),
            "--markdown": lambda: text.markdown(found, passed),
        },
    )
    show = showing(content, lambda: _print_report(report, found, wish))
    return _Answer(show, [check.failure(found) for check, ok in results if not ok])


def _with_estimate(report: graph.Report, on: Hardware | None) -> Json:
    """The report, with an estimate of the time on a device if one is given."""
    found = report.to_json()
    return found if on is None else {**found, "roofline": report.roofline(on)}


def _print_report(report: graph.Report, found: Json, wish: _Tables) -> None:
    """The facts and the tables that are asked for; without a wish, a few rows of each."""
    console = standard_output()
    console.print(grid(text.facts(found)))
    if wish.ops:
        console.print()
        for call in found["calls"]:
            console.print(plain(text.call_line(call)), soft_wrap=True)
    for table, at_most in _tables(report, found, wish):
        if table.rows:
            console.print()
            console.print(plain(table.title), style="bold")
            console.print(draw(table, console.width, at_most))


def _tables(
    report: graph.Report, found: Json, wish: _Tables
) -> Iterator[tuple[text.Table, int | None]]:
    if wish.modules or wish.depth is not None:
        yield text.module_table(found, wish.depth), None
    if wish.alive is not None:
        rows = report.alive_at(wish.alive)
        title = f"alive during call {wish.alive}"
        yield text.alive_table(found, rows, title, len(rows), folded=False), None
    if wish.modules or wish.depth is not None or wish.alive is not None:
        return
    yield text.baked_table(found), None if wish.ops else _FEW
    yield text.operator_table(found), None
    for table in text.roofline_tables(found, text.fitting_depth(found, _FEW)):
        yield table, _FEW
    if len(found["modules"]) > 1:
        yield text.module_table(found, text.fitting_depth(found, _FEW)), _FEW
    yield text.alive_table(found, found["alive_at_peak"], at_most=_FEW), None
    yield text.advice_table(found), None


# -- a folder -----------------------------------------------------------------------------------


def _inspect_folder(
    folder: str,
    options: Json,
    on: Hardware | None,
    checks: list[Check],
    written: Mapping[str, str | None],
) -> _Answer:
    """A row for each model; what is no model is a line with the reason."""
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(MODEL_SUFFIXES)]
    reports: dict[str, Json] = {}
    errors: dict[str, str] = {}
    failed = []
    for name in names:
        try:
            with user_errors():
                report = _with_estimate(_run(os.path.join(folder, name), None, **options), on)
        except UserError as error:
            errors[name] = error.message
            failed += [f"{name}: could not be read"] if checks else []
            continue
        reports[name] = report
        failed += [f"{name}: {c.failure(report)}" for c in checks if not c.holds(report)]
    if not reports:
        reason = f": {next(iter(errors.values()))}" if errors else ""
        raise UserError(
            f"{folder}: Is a directory without a model ({', '.join(MODEL_SUFFIXES)}){reason}"
        )
    models = json.dumps({"models": list(reports.values()), "errors": errors}) + "\n"
    table = folder_table(reports)
    title = os.path.basename(os.path.abspath(folder))
    problems = [*failed, *_by_reason(folder, errors)]
    content = write_reports(
        written,
        {
            "--json": lambda: models,
            "--html": lambda: folder_page(title, reports, problems),
            "--markdown": lambda: text.markdown_list(title, table, problems),
        },
    )
    return _Answer(showing(content, lambda: _print_folder(table, problems[len(failed) :])), failed)


def _by_reason(folder: str, errors: Mapping[str, str]) -> list[str]:
    """A line for each reason, with the names of the files that it is true of."""
    names: dict[str, list[str]] = {}
    for name, message in errors.items():
        reason = message.removeprefix(plain(os.path.join(folder, name)).plain)
        names.setdefault(reason, []).append(plain(name).plain)
    return [
        f"{', '.join(which[:3])}{f' and {len(which) - 3} more' if which[3:] else ''}{reason}"
        for reason, which in names.items()
    ]


def _print_folder(table: text.Table, problems: Iterable[str]) -> None:
    console = standard_output()
    console.print(draw(table, console.width))
    for problem in problems:
        console.print(plain(problem), soft_wrap=True)


# -- diff ---------------------------------------------------------------------------------------


@click.command(short_help="What changed between two models or reports.")
@click.argument("first", type=click.Path(), metavar="A")
@click.argument("second", type=click.Path(), metavar="B")
@import_option
@click.option("--device", help="Run models as if on this device, such as cuda.")
@click.option("--json", "json_path", type=_OUTPUT, help="Write the differences; - is stdout.")
@click.option("--markdown", "markdown_path", type=_OUTPUT, help="Write a summary; - is stdout.")
@click.pass_context
def diff(
    context: click.Context,
    first: str,
    second: str,
    device: str | None,
    json_path: str | None,
    markdown_path: str | None,
) -> None:
    """What changed between A and B: totals, operators, parameters, shapes, modules.

    Each is a model, or a report that `inspect --json` saved. Exit code 0: nothing; 1: something.
    """
    written = {"--json": json_path, "--markdown": markdown_path}
    with user_errors():
        check_paths(written, {"A": first, "B": second})
        found = compare(*(_report_of(path, device) for path in (first, second)))
        content = write_reports(
            written,
            {
                "--json": lambda: json.dumps(found.to_json()) + "\n",
                "--markdown": lambda: text.markdown_tables(found.title, found.tables()),
            },
        )
    showing(content, lambda: _print_difference(found))()
    if not found.is_empty:
        context.exit(1)


def _report_of(path: str, device: str | None) -> Json:
    """A saved report as it is, or that of a run."""
    saved = None if path == "-" else read_report(path)
    if saved is not None:
        return saved
    report: Json = _run(path, None, True, device, False, {}).to_json()
    return report


def _print_difference(found: Difference) -> None:
    console = standard_output()
    if found.is_empty:
        console.print(plain("no difference in totals, operators, parameters, shapes or modules"))
    for table in found.tables():
        console.print(plain(table.title), style="bold")
        console.print(draw(table, console.width))
        console.print()
