"""The command line's files: what it writes, and that this is nothing that it reads.

A report is written beside its place and renamed, so that nobody ever finds half of one, and a
failure leaves what was there. `cli` checks the paths with `check_paths` before it runs anything,
writes to `-`, which is standard output, itself, and turns the errors from here into one line.
"""

import errno
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress

import click

__all__ = ["MODEL_SUFFIXES", "STDOUT", "check_paths", "showing", "write_report", "write_reports"]

STDOUT = "-"
MODEL_SUFFIXES = (".pt2", ".json", ".json.gz")


def check_paths(written: Mapping[str, str | None], read: Mapping[str, str | None]) -> None:
    """Raise `ValueError` when a file is to be written twice, or over one that is read.

    Both are paths by what the user calls them; None: not given.
    """
    seen = {_identity(path): name for name, path in read.items() if path is not None}
    for name, path in written.items():
        if path is None:
            continue
        other = seen.setdefault(_identity(path), name)
        if other != name:
            raise ValueError(f"{path}: {name} would write over {other}")


def _identity(path: str) -> object:
    """Equal for paths of one file; devices and pipes may be written to any number of times."""
    if path == STDOUT:
        return path
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else object()


def write_reports(
    written: Mapping[str, str | None], makers: Mapping[str, Callable[[], str]]
) -> str | None:
    """Write the files that are asked for; what is to stand on standard output instead of tables."""
    made = [(path, makers[name]()) for name, path in written.items() if path is not None]
    for path, content in made:
        if path != STDOUT:
            write_report(path, content)
    return next((content for path, content in made if path == STDOUT), None)


def showing(content: str | None, tables: Callable[[], None]) -> Callable[[], None]:
    """What prints `content`, or else the tables."""
    if content is None:
        return tables
    data = content.encode()
    return lambda: click.echo(data, nl=False)


def write_report(path: str, text: str) -> None:
    """Write `text`, whole or not at all; `OSError` with the path when that fails."""
    try:
        real, data = os.path.realpath(path), text.encode()
        mode = _mode_of(real)
        if mode is None or stat.S_ISREG(mode):
            _write_beside(real, data, mode)
        else:
            _write_through(real, data)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), path) from None


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _write_beside(path: str, data: bytes, mode: int | None) -> None:
    """To a new file in the same folder, which then takes the place of `path`, and its mode."""
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = os.path.join(os.path.dirname(path), f".dispatch-{secrets.token_hex(8)}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _write_through(path: str, data: bytes) -> None:
    """To a device or a pipe; a pipe that nobody reads is an error, not a wait."""
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with open(handle, "wb") as file:
        file.write(data)
