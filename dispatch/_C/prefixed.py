"""Modules whose functions are operators: `dispatch.linalg.det` is the operator `linalg_det`.

Every overload of the operator is a function there, whatever its schema says of `variants`.
Functions are found when they are first asked for, by their name with or without the prefix, and
kept.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from dispatch._C.dispatcher import _emitted_names
from dispatch._C.function import _find_room_function

__all__ = ["OperatorModule"]


class OperatorModule:
    """Functions of one module: the operators that start with `prefix`, or that `names` lists."""

    def __init__(self, module: str, prefix: str = "", names: Iterable[str] = ()) -> None:
        self.module = module
        self.prefix = prefix
        self.names = frozenset(names)

    def __call__(self, name: str) -> Any:
        """The function; AttributeError for a name that no such operator has."""
        whole = self.prefix + name.removeprefix(self.prefix)
        found = None
        if not name.startswith("__") and (self.prefix or name in self.names):
            found = _find_room_function(whole)
        if found is None:
            raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
        vars(sys.modules[self.module])[name] = found
        return found

    def names_here(self) -> list[str]:
        if not self.prefix:
            return sorted(self.names)
        start = "aten::" + self.prefix
        names = (name.partition(".")[0] for name in _emitted_names() if name.startswith(start))
        return sorted({name.removeprefix(start) for name in names})

    def protocol(self) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
        """`__getattr__` and `__dir__` of the module."""
        return self, self.names_here
