"""Sizes on the command line: `--set batch=64 seq=2048`, `--free input_ids:0=batch input_ids:1=seq`.

One option takes all settings that follow it, and may be given again. What a name stands for, the
loaded program says (`graph.sizes`); here is only the form, and the loading of a model with
dimensions set free.
"""

import re
from collections.abc import Iterable
from typing import Any

import click

from dispatch import graph
from dispatch.graph.freeing import FREE_FORM, read_free

__all__ = ["SizesCommand", "free_option", "load", "read_sizes"]

_FORM = re.compile(r"\s*([^=\s]+)\s*=\s*(\d[\d_]{0,18})\s*", re.ASCII)
_FORMS = {"--set": _FORM, "--free": FREE_FORM}


class SizesCommand(click.Command):
    """A command whose `--set` and `--free` take several settings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _one_each(args))


def _one_each(args: Iterable[str]) -> list[str]:
    """`--set a=1 b=2` as `--set a=1 --set b=2`."""
    found: list[str] = []
    option = ""
    for arg in args:
        name = arg.partition("=")[0]
        if option and found[-1] != option and _FORMS[option].fullmatch(arg):
            found.append(option)
        elif name in _FORMS:
            option = name
        elif not (option and found[-1] == option):
            option = ""
        found.append(arg)
    return found


def free_option(command: Any) -> Any:
    """The option `--free`."""
    return click.option(
        "--free", multiple=True, metavar="INPUT:DIM=NAME...",
        help="Leave a dimension open that was exported with a fixed size: input_ids:0=batch.",
    )(command)  # fmt: skip


def load(path: str, free: Iterable[str]) -> graph.GraphModule:
    """The model, with these dimensions left open."""
    module = graph.load("/dev/stdin" if path == "-" else path)
    dimensions = read_free(free)
    return module.free(dimensions) if dimensions else module


def read_sizes(settings: Iterable[str]) -> dict[str, int]:
    """The sizes by name; `ValueError` for what is no setting, or a name that is set twice."""
    sizes: dict[str, Any] = {}
    for text in settings:
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError(f"--set {text!r}: expected a setting like batch=64")
        name, number = found[1], int(found[2])
        if sizes.setdefault(name, number) != number:
            raise ValueError(f"--set: {name} is set to {sizes[name]} and to {number}")
    return sizes
