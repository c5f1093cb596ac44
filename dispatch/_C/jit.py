"""Operators and schemas by name, as PyTorch's JIT hands them out (torch._C._jit_...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C.inspection import (
    _dispatch_get_all_op_names,
    _dispatch_has_kernel,
    _overload_names,
    _resolve_overload,
)
from dispatch._C.keys import DispatchKey, DispatchKeySet
from dispatch._C.overload import _find_overload, _find_packet
from dispatch.codegen.schema import FunctionSchema

__all__ = [
    "_get_operation_overload",
    "_jit_get_all_schemas",
    "_jit_get_operation",
    "_jit_get_schemas_for_operator",
    "_jit_resolve_packet",
]


def _check_name(function: str, name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{function}: expected an operator's name, got {name!r}")
    return name


def _jit_get_operation(
    qualified_name: str,
) -> tuple[Callable[..., Any], list[str]] | tuple[None, None]:
    """(a callable that picks the overload, the overloads' names) of `namespace::name`.

    (None, None) for an unknown operator; RuntimeError for a name without namespace.
    """
    name = _check_name("_jit_get_operation", qualified_name)
    if "::" not in name:
        raise RuntimeError(f"_jit_get_operation: {name!r} has no namespace")
    overloads = _overload_names(name)
    if not overloads:
        return None, None
    packet = _find_packet(name)
    return (None, None) if packet is None else (packet, overloads)


def _get_operation_overload(
    op_name: str, overload_name: str
) -> tuple[Callable[..., Any], Callable[..., Any], list[Any]] | None:
    """(call, call at a key, tags) of one overload, or None.

    The second takes a DispatchKey first and runs the kernel that it reaches.
    """
    name = _check_name("_get_operation_overload", op_name)
    op = _find_overload(name, overload_name) if overload_name in _overload_names(name) else None
    if op is None:
        return None

    def call_at(key: DispatchKey, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(key, DispatchKey):
            raise TypeError(f"{op.name()}: expected a DispatchKey, got {key!r}")
        return op.redispatch(DispatchKeySet(key), *args, **kwargs)

    return op, call_at, op.tags


def _jit_get_schemas_for_operator(op_name: str) -> list[FunctionSchema]:
    """The schemas of an operator's overloads; empty for an unknown operator."""
    name = _check_name("_jit_get_schemas_for_operator", op_name)
    found = [_find_overload(name, overload) for overload in _overload_names(name)]
    return [op._schema for op in found if op is not None]


def _jit_get_all_schemas() -> list[FunctionSchema]:
    """The schemas of all operators."""
    found: list[FunctionSchema] = []
    for full in _dispatch_get_all_op_names():
        name, _, overload = full.partition(".")
        op = _find_overload(name, overload)
        if op is not None:
            found.append(op._schema)
    return found


def _jit_resolve_packet(op_name: str, *args: Any, **kwargs: Any) -> str:
    """The name of the overload that a call with these arguments takes; nothing is called.

    RuntimeError for an unknown operator, and where no overload fits.
    """
    name = _check_name("_jit_resolve_packet", op_name)
    if not _overload_names(name):
        known = " (it has no schema)" if _dispatch_has_kernel(name) else ""
        raise RuntimeError(f"_jit_resolve_packet: no operator {name}{known}")
    return _resolve_overload(name, args, kwargs)
