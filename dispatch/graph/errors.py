"""The mistakes that the graph room reports, one class for each kind.

A file's error names the file, the place in it and what is wrong there; it is a `RuntimeError`, as
PyTorch's loader raises. Missing operators are collected over the whole program before anything
runs, so one error lists them all. Names in a text are a stranger's: what cannot be printed is
escaped (`plain`), here and wherever else a text is made from a file.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = ["MissingOperatorsError", "ModelFileError", "plain", "told_of"]

_SHOWN_OPERATORS = 40


def plain(text: str, kept: str = "") -> str:
    """`text` with control characters, and those that turn its direction, written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


class ModelFileError(RuntimeError):
    """A model file that cannot be read: `path`, `place` within it ("" for the file as a whole),
    `problem`."""

    def __init__(self, path: str, place: str, problem: str) -> None:
        super().__init__(": ".join(plain(part) for part in (path, place, problem) if part))
        self.path = path
        self.place = place
        self.problem = problem

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.path, self.place, self.problem)


@contextmanager
def told_of(path: str, place: str) -> Iterator[None]:
    """What is wrong with a value that the block computes is told of the place that it stands at."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(path, place, str(error)) from None


class MissingOperatorsError(NotImplementedError):
    """A program needs operators that are not registered here; `names` has each once, in order of
    first use."""

    def __init__(self, path: str, names: Iterable[str]) -> None:
        self.path = path
        self.names = tuple(names)
        shown = ", ".join(self.names[:_SHOWN_OPERATORS])
        more = len(self.names) - _SHOWN_OPERATORS
        tail = f" and {more} more" if more > 0 else ""
        count = f"{len(self.names)} operator{'s' if len(self.names) != 1 else ''}"
        super().__init__(plain(f"{path}: {count} not registered: {shown}{tail}"))

    def __reduce__(self) -> tuple[type, tuple[str, tuple[str, ...]]]:
        return type(self), (self.path, self.names)
