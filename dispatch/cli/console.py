"""What all commands share: standard output, errors as one line, tables, a stranger's text.

A user's mistake (no such file, a broken archive) and a full disk are one line and exit code 2,
never a traceback; a pipe that nobody reads any more (`| head`) ends a command without a word. What
is printed of a model file is a stranger's text: it is shown without markup and without control
characters, and in a terminal that knows no such letters with escapes in their place.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dispatch.graph import text as texts

__all__ = ["Commands", "UserError", "draw", "grid", "plain", "standard_output", "user_errors"]

_WIDTH_WHEN_PIPED = 160
_PIPE_ENDED = 141  # 128 + SIGPIPE: as of a program that the signal has ended
_FILE_ERRORS = (
    RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, MemoryError,
)  # fmt: skip


class UserError(click.ClickException):
    """A mistake of the user's or of the model file: one line, exit code 2."""

    exit_code = 2


COMPLETION = "_DISPATCH_COMPLETE"  # what a shell sets when it asks for completions


class Commands(click.Group):
    """The commands; standard output that cannot be written is one line, for all of them."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("complete_var", COMPLETION)
        if COMPLETION in os.environ:  # `python -m dispatch` too answers for the command
            kwargs.setdefault("prog_name", "dispatch")
        return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        _escape_what_has_no_code()
        with _output_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _output_errors():
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return result


def _escape_what_has_no_code() -> None:
    """A model's name may have letters that the terminal's encoding has not."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # a stream of a test, or none
            if stream.encoding.lower().replace("-", "") != "utf8":
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


@contextmanager
def _output_errors() -> Iterator[None]:
    """What is left of the output goes nowhere after an error: the interpreter flushes at exit."""
    try:
        yield
    except OSError as error:
        with suppress(OSError):  # a stream of a test has no handle
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(_PIPE_ENDED) from None
        raise UserError(f"standard output: {error.strerror or error}") from None


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def standard_output() -> Console:
    """Standard output; a pipe has no width of its own, and tables should not be cut there."""
    console = _Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WHEN_PIPED
    return console


def plain(text: Any) -> Text:
    """A stranger's text as it may be printed: no markup, no control characters."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in str(text))
    return Text(shown)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn what a model file or its run raises into one line."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UserError(plain(f"{where}{error.strerror or error}").plain) from None
    except _FILE_ERRORS as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise UserError(plain(text).plain) from None


# -- tables -------------------------------------------------------------------------------------


def grid(rows: list[tuple[str, str]]) -> Table:
    """Names and what they stand for."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(style="bold", no_wrap=True)
    for name, value in rows:
        shown.add_row(name, plain(value))
    return shown


def draw(table: texts.Table, width: int, at_most: int | None = None) -> Table:
    """A table of the report's, in a console of that width."""
    count = len(table.rows)
    table = table._replace(rows=table.rows[:at_most]).within(width)
    shown = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    for name in table.columns:
        left = name in table.left
        shown.add_column(
            name, justify="left" if left else "right", no_wrap=not left, overflow="fold"
        )
    for row in table.rows:
        shown.add_row(*map(plain, row))
    if len(table.rows) < count:
        shown.add_row(f"and {count - len(table.rows)} more", *[""] * (len(table.columns) - 1))
    return shown
