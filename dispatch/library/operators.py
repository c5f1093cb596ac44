"""Operators by qualified name."""

from dispatch._C.overload import OpOverload
from dispatch._ops import ops
from dispatch.registry.handles import parse_namespace

__all__ = ["lookup_op"]


def lookup_op(qualname: str) -> OpOverload:
    """The overload called "namespace::name.overload"; AttributeError when there is none."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    packet = getattr(getattr(ops, namespace), name)
    found: OpOverload = getattr(packet, overload or "default")
    return found
