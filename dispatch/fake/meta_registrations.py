"""Meta kernels in Python for operators that there are (torch._meta_registrations.register_meta)."""

from collections.abc import Callable
from typing import Any

from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._C.registration import LibraryModule
from dispatch.registry.fake_kernels import check_no_decomposition

__all__ = ["meta_table", "register_meta"]

# OpOverload -> its Meta kernel, of those registered here.
meta_table: dict[Any, Callable[..., Any]] = {}
_modules: list[LibraryModule] = []  # what is registered stays


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

    Raises:
        TypeError: what is no operator.
        RuntimeError: an operator that decomposes.
    """
    overloads = _overloads(op)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for overload in overloads:
            check_no_decomposition(overload.name())
            module = LibraryModule("IMPL", overload.namespace, "Meta", __file__, 0)
            module.impl(overload.name(), "Meta", function, False)
            _modules.append(module)
            meta_table[overload] = function
        return function

    return decorate
