"""The mistakes that the graph room reports, one class for each kind.

A file's error names the file, the place in it and what is wrong there; it is a `RuntimeError`, as
PyTorch's loader raises. Missing operators are collected over the whole program before anything
runs, so one error lists them all.
"""

from collections.abc import Iterable

__all__ = ["MissingOperatorsError", "ModelFileError"]

_SHOWN_OPERATORS = 40


class ModelFileError(RuntimeError):
    """A model file that cannot be read: `path`, `place` within it ("" for the file as a whole),
    `problem`."""

    def __init__(self, path: str, place: str, problem: str) -> None:
        super().__init__(": ".join(part for part in (path, place, problem) if part))
        self.path = path
        self.place = place
        self.problem = problem

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.path, self.place, self.problem)


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
        super().__init__(f"{path}: {count} not registered: {shown}{tail}")

    def __reduce__(self) -> tuple[type, tuple[str, tuple[str, ...]]]:
        return type(self), (self.path, self.names)
