"""Meta kernels in Python for operators that there are (torch._meta_registrations.register_meta)."""

from collections.abc import Callable
from typing import Any

from dispatch._C.overload import OpOverload, OpOverloadPacket

__all__ = ["meta_table", "register_meta"]

# OpOverload -> its Meta kernel, of those registered here.
meta_table: dict[Any, Callable[..., Any]] = {}
_libraries: list[Any] = []


def _overloads(op: Any) -> list[Any]:
    if isinstance(op, OpOverload):
        return [op]
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name) for name in op.overloads()]
    if isinstance(op, list | tuple):
        return [found for each in op for found in _overloads(each)]
    raise TypeError(f"register_meta: expected an operator, got {type(op).__name__}")


def register_meta(op: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the Meta kernel of an operator, a packet or a list.

    Raises: TypeError for what is no operator.
    """
    overloads = _overloads(op)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        from dispatch.library import Library

        for overload in overloads:
            library = Library(overload.namespace, "IMPL", "Meta")
            library.impl(overload, function)
            _libraries.append(library)
            meta_table[overload] = function
        return function

    return decorate
