"""The command line: what a model does (`inspect`), which operators, tables and keys there are.

Installed as `dispatch`, and run by `python -m dispatch`. This is the only module that imports click
and rich. What is printed of a model file is a stranger's text: it is shown without markup and
without control characters. A user's mistake (no such file, a broken archive, missing operators), a
full disk and a pipe that nobody reads any more are one line and exit code 2, never a traceback.
"""

import errno
import fnmatch
import json
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from dispatch import _C, __version__, graph
from dispatch._C.generated.type_names import DTYPE_BYTES
from dispatch.cli_coverage import (
    KINDS,
    Coverage,
    coverage,
    family_rows,
    markdown,
    replayed,
)
from dispatch.cli_files import STDOUT, check_paths, write_report
from dispatch.graph.html import html_page
from dispatch.graph.inputs import read_inputs

__all__ = ["main"]

_WIDTH_WHEN_PIPED = 160
_PROGRESS_AFTER_SECONDS = 0.5
_WARM_UP_BELOW_NS = 1_000_000_000
_FILE_ERRORS = (
    RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, MemoryError,
)  # fmt: skip
Json = dict[str, Any]
_OUTPUT = click.Path(readable=False)


class UserError(click.ClickException):
    """A mistake of the user's or of the model file: one line, exit code 2."""

    exit_code = 2


class _Commands(click.Group):
    """The commands; standard output that cannot be written is one line, for all of them."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _output_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _output_errors():
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return result


@contextmanager
def _output_errors() -> Iterator[None]:
    """What is left of the output goes nowhere after an error: the interpreter flushes at exit."""
    try:
        yield
    except OSError as error:
        with suppress(OSError):  # a stream of a test has no handle
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise UserError(f"standard output: {error.strerror or error}") from None


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _console() -> Console:
    """Standard output; a pipe has no width of its own, and tables should not be cut there."""
    console = _Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WHEN_PIPED
    return console


def _plain(text: Any) -> Text:
    """A stranger's text as it may be printed: no markup, no control characters."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in str(text))
    return Text(shown)


@contextmanager
def _user_errors() -> Iterator[None]:
    """Turn what a model file or its run raises into one line."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UserError(_plain(f"{where}{error.strerror or error}").plain) from None
    except _FILE_ERRORS as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise UserError(_plain(text).plain) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dispatch")
def main() -> None:
    """Look at exported models, and at the operators that run them."""


# -- inspect ------------------------------------------------------------------------------------


@main.command()
@click.argument("model", type=click.Path())
@click.option("--fake/--cpu", "fake", default=True, help="Fake tensors (default), or for real.")
@click.option("--device", help="Run as if on this device (fake only), such as cuda.")
@click.option("--ops", "list_ops", is_flag=True, help="List every call.")
@click.option("--json", "json_path", type=_OUTPUT, help="Write the report; - is stdout.")
@click.option("--html", "html_path", type=_OUTPUT, help="Write a page; - is stdout.")
@click.option("--inputs", type=click.Path(), help="An .npz file with the inputs, in order.")
def inspect(
    model: str,
    fake: bool,
    device: str | None,
    list_ops: bool,
    json_path: str | None,
    html_path: str | None,
    inputs: str | None,
) -> None:
    """Load MODEL (.pt2, .json, .json.gz; - is standard input), run it, and report memory, operators
    and operations."""
    console = _console()
    written = {"--json": json_path, "--html": html_path}
    model = "/dev/stdin" if model == "-" else model
    with _user_errors():
        check_paths(written, {"MODEL": model, "--inputs": inputs})
        module = graph.load(model)
        report = _run(module, fake, device, inputs).to_json()
        makers = {"--json": _json_text, "--html": html_page}
        texts = [(path, makers[name](report)) for name, path in written.items() if path is not None]
        for path, text in texts:
            if path != STDOUT:
                write_report(path, text)
    if STDOUT in written.values():
        click.echo(dict(texts)[STDOUT], nl=False)
        return
    _print_head(console, report)
    if list_ops:
        _print_calls(console, report["calls"])
    console.print(_operator_table(report))
    _print_totals(console, report)


def _json_text(report: Json) -> str:
    return json.dumps(report) + "\n"


def _run(module: graph.GraphModule, fake: bool, device: str | None, inputs: str | None) -> Any:
    given = read_inputs(inputs) if inputs is not None else []
    if not fake:
        module.fill_missing_weights()
    with _late_progress(module.n_calls) as progress:
        report = module.run(*given, fake=fake, device=device, progress=progress)
    if not fake and report.wall_ns < _WARM_UP_BELOW_NS:
        # Kernels are imported at their first call, which would be most of a short run's time.
        return module.run(*given, fake=False, device=device)
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


def _nbytes(meta: Json | None) -> int:
    return math.prod(meta["shape"]) * DTYPE_BYTES.get(meta["dtype"], 0) if meta else 0


def _shape_text(meta: Json | None, strides: bool = False) -> str:
    if meta is None:
        return "None"
    text = f"{meta['dtype']}{meta['shape']}"
    return f"{text} strides {meta['stride']}" if strides else text


def _print_head(console: Console, report: Json) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_row("model", _plain(report["model"]))
    table.add_row("run", f"{report['mode']} on {report['device']}")
    size = decimal(report["parameter_bytes"])
    table.add_row("parameters", f"{report['parameters']:,} ({size})")
    for name in ("inputs", "outputs"):
        table.add_row(name, _plain(_listed(_shape_text(m) for m in report[name])))
    console.print(table)


def _listed(texts: Iterable[str], at_most: int = 8) -> str:
    items = list(texts)
    more = f", and {len(items) - at_most} more" if len(items) > at_most else ""
    return ", ".join(items[:at_most]) + more


def _print_calls(console: Console, calls: list[Json]) -> None:
    for call in calls:
        outputs = "; ".join(_shape_text(meta, strides=True) for meta in call["outputs"])
        line = f"{call['index']:>6}  {call['node']}  {call['op']}  {outputs}"
        console.print(_plain(line), soft_wrap=True)


def _operator_table(report: Json) -> Table:
    timed = any(call["ns"] is not None for call in report["calls"])
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for call in report["calls"]:
        row = rows[call["op"]]
        row[0] += 1
        row[1] += sum(map(_nbytes, call["outputs"]))
        row[2] += call["flops"]
        row[3] += call["ns"] or 0
    first = 3 if timed else 1  # what the rows are sorted by, and the shares are of
    total = sum(row[first] for row in rows.values()) or 1
    table = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    table.add_column("operator")
    for name in ("calls", *(["time"] if timed else []), "share", "output", "FLOPs"):
        table.add_column(name, justify="right")
    for op, row in sorted(rows.items(), key=lambda r: (-r[1][first], r[0])):
        calls, nbytes, flops, ns = row
        time_cell = [f"{ns / 1e6:.2f} ms"] if timed else []
        share = f"{row[first] / total:.1%}"
        table.add_row(
            _plain(op), f"{calls:,}", *time_cell, share, decimal(nbytes), _flops_text(flops)
        )
    return table


def _flops_text(flops: int) -> str:
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if flops >= limit:
            return f"{flops / limit:.2f} {unit}"
    return str(flops) if flops else ""


def _print_totals(console: Console, report: Json) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    calls, index = report["calls"], report["peak_index"]
    where = f" after call {index}, {calls[index]['node']} ({calls[index]['op']})" if calls else ""
    table.add_row("peak memory", _plain(f"{decimal(report['peak_bytes'])}{where}"))
    table.add_row("FLOPs", _flops_text(report["flops"]) or "0")
    cache = report["cache"]
    bypassed = sum(cache["bypasses"].values())
    if report["mode"] == "fake":
        hits = f"{cache['hits']:,} hits, {cache['misses']:,} misses, {bypassed:,} bypassed"
        table.add_row("cache", hits)
    table.add_row("calls", f"{len(calls):,}")
    table.add_row("wall time", f"{report['wall_ns'] / 1e6:.2f} ms")
    console.print(table)


# -- operators, tables, keys --------------------------------------------------------------------


@main.command("ops")
@click.argument("pattern", required=False)
@click.option("--coverage", "covered", is_flag=True, help="Which kernels each has, by family.")
@click.option("--cases", type=click.Path(), help="A folder of recorded calls to replay.")
@click.option("--markdown", "as_page", is_flag=True, help="The coverage as a page of the docs.")
@click.option("--json", "as_json", is_flag=True, help="The coverage as JSON.")
def list_operators(
    pattern: str | None, covered: bool, cases: str | None, as_page: bool, as_json: bool
) -> None:
    """List operators; PATTERN is part of a name, or a glob such as 'aten::conv*'."""
    found = [name for name in sorted(_C._dispatch_get_all_op_names()) if _matches(name, pattern)]
    if not found:
        raise UserError(f"no operator matches {pattern!r}")
    if not covered:
        if cases or as_page or as_json:
            raise click.UsageError("--cases, --markdown and --json go with --coverage")
        for name in found:
            click.echo(name)
        return
    with _user_errors():
        rows = coverage(found, replayed(Path(cases)) if cases else None)
    if as_page:
        click.echo(markdown(rows), nl=False)
    elif as_json:
        totals = list(family_rows(rows))
        operators = [row._asdict() for row in rows]
        click.echo(_json_text({"operators": operators, "families": totals}), nl=False)
    else:
        _print_coverage(_console(), rows)


def _print_coverage(console: Console, rows: list[Coverage]) -> None:
    counted = any(row.cases for row in rows)
    shown = Table("family", "operator", *KINDS, header_style="bold", box=None, padding=(0, 2, 0, 0))
    totals = Table("family", header_style="bold", box=None, padding=(0, 2, 0, 0))
    for name in ("operators", *KINDS[:3], "none"):
        totals.add_column(name, justify="right")
    for added in (shown, totals) if counted else ():
        added.add_column("passed", justify="right")
        added.add_column("of", justify="right")
    for row in rows:
        cells = [str(n) for n in ((row.passed, row.cases) if counted and row.cases else ())]
        kinds = (row.kernels[kind] for kind in KINDS)
        shown.add_row(_plain(row.family), _plain(row.name), *kinds, *cells)
    for total in family_rows(rows):
        cells = [str(n) for n in list(total.values())[1 : None if counted else -2]]
        totals.add_row(_plain(total["family"]), *cells)
    console.print(shown)
    console.print()
    console.print(totals)


def _matches(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    if any(c in pattern for c in "*?["):
        return any(fnmatch.fnmatchcase(n, pattern) for n in (name, name.partition("::")[2]))
    return pattern in name


@main.command()
@click.argument("op")
def table(op: str) -> None:
    """Print what each dispatch key of OP (aten::add.Tensor, or aten.add.Tensor) runs, and why."""
    with _user_errors():
        text = _C._dispatch_dump_table(_qualified(op))
    shown = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    shown.add_column("key")
    shown.add_column("kernel")
    shown.add_column("reason")
    for line in text.splitlines():
        key, _, rest = line.partition(": ")
        kernel, _, reason = rest.rpartition(" [")
        shown.add_row(_plain(key), _plain(kernel or rest), _plain(reason.removesuffix("]")))
    _console().print(shown)


def _qualified(op: str) -> str:
    """`aten.add.Tensor`, `add.Tensor` and `aten::add.default` in the dispatcher's form."""
    known = set(_C._dispatch_get_all_op_names())
    dotted = "::".join(op.split(".", 1))
    for name in (op, dotted, f"aten::{op}"):
        for form in (name, name.removesuffix(".default")):
            if form in known:
                return form
    raise UserError(f"no operator {op!r}; `dispatch ops PATTERN` lists them")


@main.command()
def keys() -> None:
    """List the dispatch keys with their values, highest priority first; then the alias keys."""
    shown = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    shown.add_column("value", justify="right")
    shown.add_column("key")
    shown.add_column("kind")
    names: dict[int, list[str]] = defaultdict(list)
    for name, key in _C.DispatchKey.__members__.items():
        names[int(key.value)].append(name)
    aliases = {v for v, n in names.items() if _is_alias(n[0])}
    for value in [*sorted(set(names) - aliases, reverse=True), *sorted(aliases)]:
        kind = "alias" if value in aliases else ""
        shown.add_row(str(value), ", ".join(names[value]), kind)
    _console().print(shown)


def _is_alias(name: str) -> bool:
    return bool(_C._dispatch_is_alias_key(getattr(_C.DispatchKey, name)))
