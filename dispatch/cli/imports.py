"""The option `--import`, which the commands share: it is done before anything else is read."""

from typing import Any

import click

from dispatch.cli.console import user_errors
from dispatch.graph.imports import import_operators

__all__ = ["import_option", "imported"]

_KEY = "dispatch.cli.imports"


def import_option(command: Any) -> Any:
    """The option `--import`."""
    return click.option(
        "--import", "modules", multiple=True, metavar="MODULE", is_eager=True, expose_value=False,
        callback=_import_all,
        help="A module, or FILE.py, with operators that the models need. May be given again.",
    )(command)  # fmt: skip


def _import_all(context: click.Context, _: click.Parameter, names: tuple[str, ...]) -> None:
    context.meta[_KEY] = names
    if not context.resilient_parsing:  # a shell that completes runs nothing
        with user_errors():
            for name in names:
                import_operators(name)


def imported(context: click.Context) -> tuple[str, ...]:
    """The names that were given."""
    return tuple(context.meta[_KEY])
