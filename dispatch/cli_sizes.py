"""Sizes on the command line: `--set batch=64 seq=2048`.

One `--set` takes all settings that follow it, and may be given again. What a name stands for, the
loaded program says (`graph.sizes`); here is only the form.
"""

import re
from collections.abc import Iterable
from typing import Any

import click

__all__ = ["SizesCommand", "read_sizes"]

_FORM = re.compile(r"\s*([^=\s]+)\s*=\s*(\d[\d_]{0,18})\s*", re.ASCII)


class SizesCommand(click.Command):
    """A command whose `--set` takes several settings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _one_each(args))


def _one_each(args: Iterable[str]) -> list[str]:
    """`--set a=1 b=2` as `--set a=1 --set b=2`."""
    found: list[str] = []
    follows = False
    for arg in args:
        if follows and found[-1] != "--set" and _FORM.fullmatch(arg):
            found.append("--set")
        elif arg == "--set" or arg.startswith("--set="):
            follows = True
        elif not (follows and found[-1] == "--set"):
            follows = False
        found.append(arg)
    return found


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
