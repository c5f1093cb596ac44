"""The command `dispatch` itself: its group, and what it tells about operators, tables and keys.

`inspect`, `diff`, `fit` and `sweep`, which read models, have a module each; `console` holds what
all commands promise of their output and errors.
"""

import fnmatch
import json
from collections import defaultdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from dispatch import _C, __version__
from dispatch.cli.console import Commands, UserError, plain, standard_output, user_errors
from dispatch.cli.coverage import (
    KINDS,
    Coverage,
    coverage,
    family_rows,
    markdown,
    replayed,
)
from dispatch.cli.fit import fit
from dispatch.cli.imports import import_option
from dispatch.cli.inspect import diff, inspect
from dispatch.cli.sweep import sweep

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dispatch")
def main() -> None:
    """Look at exported models, and at the operators that run them."""


main.add_command(inspect)
main.add_command(diff)
main.add_command(fit)
main.add_command(sweep)


# -- operators, tables, keys --------------------------------------------------------------------


def _operators(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Names that a shell may complete `start` to. (It takes `:` for the end of a word.)"""
    names = sorted(name.replace("::", ".", 1) for name in _C._dispatch_get_all_op_names())
    whole = start if "." in start else f"aten.{start}"
    return [name for name in names if name.startswith((whole, start))]


@main.command("ops", short_help="List operators, and the kernels that each has.")
@click.argument("pattern", required=False, shell_complete=_operators)
@import_option
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
    with user_errors():
        rows = coverage(found, replayed(Path(cases)) if cases else None)
    if as_page:
        click.echo(markdown(rows), nl=False)
    elif as_json:
        totals = list(family_rows(rows))
        operators = [row._asdict() for row in rows]
        click.echo(json.dumps({"operators": operators, "families": totals}))
    else:
        _print_coverage(standard_output(), rows)


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
        shown.add_row(plain(row.family), plain(row.name), *kinds, *cells)
    for total in family_rows(rows):
        cells = [str(n) for n in list(total.values())[1 : None if counted else -2]]
        totals.add_row(plain(total["family"]), *cells)
    console.print(shown)
    console.print()
    console.print(totals)


def _matches(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    if any(c in pattern for c in "*?["):
        return any(fnmatch.fnmatchcase(n, pattern) for n in (name, name.partition("::")[2]))
    return pattern in name


@main.command(short_help="What each dispatch key of an operator runs, and why.")
@click.argument("op", shell_complete=_operators)
@import_option
def table(op: str) -> None:
    """Print what each dispatch key of OP (aten::add.Tensor, or aten.add.Tensor) runs, and why."""
    name = _qualified(op)
    with user_errors():
        text = _C._dispatch_dump_table(name)
    shown = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    shown.add_column("key")
    shown.add_column("kernel")
    shown.add_column("reason")
    for line in text.splitlines():
        key, _, rest = line.partition(": ")
        kernel, _, reason = rest.rpartition(" [")
        shown.add_row(plain(key), plain(kernel or rest), plain(reason.removesuffix("]")))
    standard_output().print(shown)
    others = [n for n in sorted(_C._dispatch_get_all_op_names()) if n.startswith(f"{name}.")]
    if others:
        click.echo(f"This is {name}; other overloads are {', '.join(others)}", err=True)


def _qualified(op: str) -> str:
    """`aten.add.Tensor`, `add.Tensor` and `aten::add.default` in the dispatcher's form."""
    known = set(_C._dispatch_get_all_op_names())
    dotted = "::".join(op.split(".", 1))
    for name in (op, dotted, f"aten::{op}"):
        for form in (name, name.removesuffix(".default")):
            if form in known:
                return form
    raise UserError(f"no operator {op!r}; `dispatch ops PATTERN` lists them")


@main.command(short_help="List the dispatch keys by priority.")
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
    standard_output().print(shown)


def _is_alias(name: str) -> bool:
    return bool(_C._dispatch_is_alias_key(getattr(_C.DispatchKey, name)))
