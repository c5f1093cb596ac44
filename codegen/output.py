"""Rendering templates and writing files: only what changed is written.

`Output` collects the files of one run. With `check` nothing is written and `stale` lists what
would have been; either way files of an earlier run that are no longer made are found, so that a
folder never holds more than its input says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

try:
    import jinja2
except ImportError as error:
    raise ImportError(
        "generating code needs PyYAML and Jinja2: pip install 'tensor-dispatch[build]'"
    ) from error

__all__ = ["Output", "c_string", "rows_of", "wrapped"]

_WIDTH = 98


# Jinja's line statements swallow the blank lines behind them: a line `{##}` in a template is a
# blank line that stays.
@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        line_statement_prefix="#%",
        variable_start_string="@{",
        variable_end_string="}",
        keep_trailing_newline=True,
        autoescape=False,
    )


class Output:
    """The files of one run under `folder`; `stale` are those that differed, `written` all."""

    def __init__(self, folder: Path, check: bool = False) -> None:
        self.folder = folder
        self.check = check
        self.stale: list[str] = []
        self.written: list[str] = []

    def render(self, name: str, template: str, **context: Any) -> None:
        """Write `templates/TEMPLATE` with `context` to the file `name`."""
        self.write(name, _environment().get_template(template).render(**context))

    def write(self, name: str, text: str) -> None:
        """Replace the file `name` when its content differs from `text`."""
        self.written.append(name)
        path = self.folder / name
        content = text.encode()
        if path.is_file() and path.read_bytes() == content:
            return
        self.stale.append(name)
        if self.check:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        scratch.write_bytes(content)
        scratch.replace(path)

    def remove_others(self, patterns: Iterable[str]) -> None:
        """Remove (with `check`: report) files that match `patterns` and are not of this run."""
        for pattern in patterns:
            for path in sorted(self.folder.glob(pattern)):
                name = path.relative_to(self.folder).as_posix()
                if name in self.written:
                    continue
                self.stale.append(name)
                if not self.check:
                    path.unlink()


def rows_of(values: Iterable[object], per_line: int = 0) -> list[str]:
    """The values as lines of a C initialiser, each with its commas, at most 98 columns wide."""
    lines: list[str] = []
    line: list[str] = []
    width = 3
    for value in values:
        text = f"{value},"
        if line and (width + len(text) + 1 > _WIDTH or len(line) == per_line):
            lines.append(" ".join(line))
            line, width = [], 3
        line.append(text)
        width += len(text) + 1
    return [*lines, " ".join(line)] if line else lines


def wrapped(items: Iterable[str], column: int, indent: int = 8) -> str:
    """The items with commas, broken into indented lines where they would pass the margin."""
    text = ""
    for item in items:
        piece = f", {item}" if text else item
        if text and column + len(piece) + 2 > _WIDTH:
            text += f",\n{' ' * indent}"
            piece, column = item, indent
        text += piece
        column += len(piece)
    return text


def c_string(text: str | None) -> str:
    """A C string literal, or NULL."""
    if text is None:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")
    for raw, name in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        escaped = escaped.replace(raw, name)
    return f'"{escaped}"'
