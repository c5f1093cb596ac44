"""What is in values: symbols of numbers, tensors, expressions and nests of them, and their hints.

Functions of `torch.fx.experimental.symbolic_shapes` that look without asking; above `numbers`.
"""

from collections.abc import Iterator
from typing import Any

from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt

__all__ = [
    "free_symbols",
    "free_unbacked_symbols",
    "guarding_hint_or_throw",
    "has_free_symbols",
    "has_free_unbacked_symbols",
    "has_symbolic_sizes_strides",
    "hint_int",
    "optimization_hint",
]


def _expressions(value: Any) -> Iterator[Expr]:
    if isinstance(value, (SymInt, SymFloat, SymBool)):
        if isinstance(e := getattr(value.node, "expr", None), Expr):
            yield e
    elif isinstance(value, Expr) or hasattr(value, "free_symbols"):
        yield value
    elif isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            yield from _expressions(part)
    elif hasattr(value, "storage_offset"):
        yield from _expressions((*value.size(), *value.stride(), value.storage_offset()))
    elif value is not None and not isinstance(value, (int, float, bool, str)):
        raise AssertionError(f"no symbols in a {type(value).__name__}")


def free_symbols(val: Any) -> set[Expr]:
    """Every symbol of a value."""
    return {s for e in _expressions(val) for s in e.free_symbols}


def has_free_symbols(val: Any) -> bool:
    """Whether a value depends on a symbol."""
    return any(e.free_symbols for e in _expressions(val))


def free_unbacked_symbols(x: Any) -> set[Expr]:
    """Every symbol of a value that data decide."""
    return {s for s in free_symbols(x) if s.unbacked}


def has_free_unbacked_symbols(x: Any) -> bool:
    """Whether a value depends on a symbol that data decide."""
    return any(e.unbacked for e in _expressions(x))


def has_symbolic_sizes_strides(elem: Any) -> bool:
    """Whether a size, stride or offset of a tensor is an expression."""
    parts = (*elem.size(), *elem.stride(), elem.storage_offset())
    return any(isinstance(x, SymInt) for x in parts)


def guarding_hint_or_throw(a: Any) -> Any:
    """The number that it is in this run; GuardOnDataDependentSymNode when data decide."""
    if not isinstance(a, (SymInt, SymBool)):
        if not isinstance(a, int):
            raise AssertionError(f"Expected int, got {type(a)}")
        return a
    return a.node.shape_env.guarding_hint_or_throw(a.node.expr)


def hint_int(a: Any, fallback: int | None = None) -> int | None:
    """The int that it is in this run; `fallback`, or an error, when data decide."""
    if not isinstance(a, SymInt):
        if type(a) is not int:
            raise AssertionError(f"Expected int, got {type(a)}")
        return a
    hint = a.node.hint if fallback is not None else guarding_hint_or_throw(a)
    return fallback if hint is None else int(hint)


def optimization_hint(a: Any, fallback: int | None = None) -> Any:
    """The number that it is in this run; where data decide, with `fallback` (or 8192) in the place
    of their symbols, as far as these can be that."""
    if not isinstance(a, SymInt):
        if type(a) is not int:
            raise AssertionError(f"Expected int, got {type(a)}")
        return a
    hint = a.node.hint
    return a.node.shape_env.optimization_hint(a.node.expr, fallback) if hint is None else hint
