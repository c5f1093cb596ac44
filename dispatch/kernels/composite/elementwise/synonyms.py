"""Second names of operators: `arccos` is `acos`, `greater` is `gt`.

A kernel is named `NAME__OVERLOAD` and made when it is first asked for: it calls the overload of the
same name of the operator that is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._ops import ops

__all__: list[str] = []

_MEANT = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "row_stack": "vstack",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
}


def __getattr__(kernel: str) -> Callable[..., Any]:
    name, found, overload = kernel.rpartition("__")
    base = name.removesuffix("_")
    if not found or base not in _MEANT:
        raise AttributeError(f"module {__name__!r} has no attribute {kernel!r}")
    packet = getattr(ops.aten, _MEANT[base] + name[len(base) :])
    operator: Callable[..., Any] = getattr(packet, overload)
    return operator
