"""Operators as functions of the package, and nothing else (torch._C._VariableFunctions)."""

from typing import Any

from dispatch._C.function import _find_function


def __getattr__(name: str) -> Any:
    """The function of an operator, found when it is first asked for."""
    found = None if name.startswith("__") else _find_function(name, False)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
