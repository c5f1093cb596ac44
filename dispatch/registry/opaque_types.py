"""Classes whose objects operators take without looking into them (torch._library.opaque_object).

`library.opaque` registers them; stand-ins for their objects (`script_classes`) ask here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal
from weakref import WeakKeyDictionary

from dispatch._C import _is_opaque_type_registered

__all__ = ["FakeOpaqueObject", "MemberType", "OpaqueType", "get_opaque_obj_info", "resolve"]


class MemberType(Enum):
    """What whoever traces should do with a member."""

    USE_REAL = "use_real"
    INLINED = "inlined"


@dataclass
class OpaqueType:
    """What `register_opaque_type` was told of a class."""

    class_name: str
    opaque_typ: Literal["reference", "value"]
    guard_fn: Callable[[Any], list[Any]] | None
    members: dict[str, MemberType]
    hoist: bool
    reconstruct_fn: Callable[..., Any] | None


class FakeOpaqueObject:
    """What a stand-in for such an object wraps: nothing can be asked of it."""


_OPAQUE_TYPES: WeakKeyDictionary[type, OpaqueType] = WeakKeyDictionary()
_OPAQUE_TYPES_BY_NAME: dict[str, OpaqueType] = {}


def resolve(cls: Any) -> OpaqueType | None:
    """What was registered for a class, one of its bases, or a name, even if it was taken back."""
    if isinstance(cls, str):
        return _OPAQUE_TYPES_BY_NAME.get(cls)
    if not isinstance(cls, type):
        return None
    return next((_OPAQUE_TYPES[c] for c in cls.__mro__ if c in _OPAQUE_TYPES), None)


def get_opaque_obj_info(cls: Any) -> OpaqueType | None:
    """What is registered for a class, one of its bases, or a name; None when nothing is."""
    found = resolve(cls)
    return found if found is not None and _is_opaque_type_registered(found.class_name) else None
