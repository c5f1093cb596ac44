"""Objects that operators take without looking into them (torch._library.opaque_object).

`register_opaque_type(cls, typ=...)` makes a class's full name a type of the schema language, under
which any object travels as it is. A "value" stands for what it compares equal to, a "reference" for
itself; a fake stand-in for an object has its registered members and no others. Nobody here traces,
so what else a registration says is only kept for those who ask.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal

from dispatch import pytree
from dispatch._C import _is_opaque_type_registered, _register_opaque_type
from dispatch._C.naming import full_name
from dispatch._C.tensor import Tensor
from dispatch.registry.opaque_types import (
    _OPAQUE_TYPES,
    _OPAQUE_TYPES_BY_NAME,
    FakeOpaqueObject,
    MemberType,
    OpaqueType,
    get_opaque_obj_info,
    resolve,
)
from dispatch.registry.script_classes import FakeScriptObject

__all__ = [
    "FakeOpaqueObject",
    "MemberType",
    "OpaqueBase",
    "OpaqueBaseMeta",
    "get_member_type",
    "get_opaque_obj_info",
    "get_opaque_obj_repr",
    "get_opaque_type_name",
    "has_members",
    "is_opaque_reference_type",
    "is_opaque_type",
    "is_opaque_value",
    "is_opaque_value_type",
    "register_opaque_type",
    "should_hoist",
]


class OpaqueBaseMeta(type):
    """A stand-in for an object of such a class counts as an instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is OpaqueBase:
            return is_opaque_value(instance)
        if super().__instancecheck__(instance):
            return True
        stands_in = type(instance) is FakeScriptObject
        return stands_in and super().__instancecheck__(instance.real_obj)


class OpaqueBase(metaclass=OpaqueBaseMeta):
    """Base of classes that are registered as references."""


def register_opaque_type(
    cls: type,
    *,
    typ: Literal["reference", "value"],
    hoist: bool = False,
    guard_fn: Callable[[Any], list[Any]] | None = None,
    members: dict[str, MemberType] | None = None,
    reconstruct_fn: Callable[..., Any] | None = None,
) -> None:
    """Let operators take objects of a class, under its full name in schemas.

    Args:
        typ: "reference" (of a class with the metaclass `OpaqueBaseMeta`), or "value" (with
            `__eq__`, `__hash__` and `__fx_repr__`; enumerations have what they need).
        members: what a fake stand-in has of its object, read when it is made.
        hoist, guard_fn, reconstruct_fn: kept for those who ask.

    Raises:
        ValueError: a builtin class, Tensor, or one whose objects are containers to pytree.
        TypeError: the class lacks what its kind needs, or `guard_fn` was given for a value.
        AssertionError: another `typ`.
    """
    if cls.__module__ == "builtins" or cls is Tensor:
        raise ValueError(
            f"Unable to register built-in type {cls} as an opaque type: wrap it in a class"
        )
    if cls in pytree.SUPPORTED_NODES:
        raise ValueError(
            f"{cls} cannot be registered as an opaque object as it has been registered as a pytree."
        )
    if typ != "value" and not isinstance(cls, OpaqueBaseMeta):
        raise TypeError(
            f"Opaque type {cls} must subclass {full_name('_opaque_base.OpaqueBase')} or have its "
            "metaclass"
        )
    if typ not in ("reference", "value"):
        raise AssertionError(f"an opaque type is either 'reference' or 'value', got {typ!r}")
    if typ == "value":
        _check_value_class(cls, guard_fn)
    name = f"{cls.__module__}.{cls.__qualname__}"
    made = OpaqueType(name, typ, guard_fn, members or {}, hoist, reconstruct_fn)
    _OPAQUE_TYPES[cls] = _OPAQUE_TYPES_BY_NAME[name] = made
    _register_opaque_type(name)


def _check_value_class(cls: type, guard_fn: Any) -> None:
    what = f"Value-type opaque object of type {cls} is expected to have a"
    plain = not issubclass(cls, Enum)
    if plain and cls.__eq__ is object.__eq__:
        raise TypeError(f"{what} non-default `__eq__`: it says which objects are the same value")
    if cls.__hash__ is None:
        raise TypeError(f"{what} non-default `__hash__`: results are kept by it")
    if plain and not hasattr(cls, "__fx_repr__"):
        raise TypeError(f"{what} `__fx_repr__`, which gives its text and the names in it")
    if guard_fn is not None:
        raise TypeError(f"No need to specify `guard_fn` for {cls}: values are guarded by `__eq__`")


register_opaque_type(Enum, typ="value")


def is_opaque_type(cls: Any) -> bool:
    """Whether a class, one of its bases, or a name is registered."""
    if isinstance(cls, str):
        return _is_opaque_type_registered(cls)
    return get_opaque_obj_info(cls) is not None


def _refuse_node(cls: Any) -> None:
    if isinstance(cls, type) and is_opaque_type(cls) and not issubclass(cls, Enum):
        raise ValueError(
            f"{cls} cannot be registered as a pytree as it has been registered as an opaque object."
        )


pytree.nodes.refuse_nodes(_refuse_node)


def is_opaque_value(value: object) -> bool:
    """Whether an object, or the one it stands for, is of a registered class."""
    if is_opaque_type(type(value)):
        return True
    return type(value) is FakeScriptObject and is_opaque_type(type(value.real_obj))


def _is_kind(cls: Any, kind: str) -> bool:
    found = get_opaque_obj_info(cls)
    return found is not None and found.opaque_typ == kind


def is_opaque_value_type(cls: Any) -> bool:
    """Whether it is registered as a value."""
    return _is_kind(cls, "value")


def is_opaque_reference_type(cls: Any) -> bool:
    """Whether it is registered as a reference."""
    return _is_kind(cls, "reference")


def get_opaque_type_name(cls: Any) -> str:
    """Its name in schemas; ValueError for a class that is not registered."""
    found = resolve(cls)
    if found is None:
        raise ValueError(f"Class {cls} is not registered as an opaque type: register_opaque_type")
    return found.class_name


def should_hoist(cls: Any) -> bool:
    """What was registered as `hoist`."""
    found = resolve(cls)
    return found is not None and found.hoist


def has_members(cls: Any) -> bool:
    """Whether members were registered."""
    found = resolve(cls)
    return found is not None and bool(found.members)


def get_member_type(cls: Any, member_name: str) -> MemberType | None:
    """What was registered for a member; None when nothing was."""
    found = get_opaque_obj_info(cls)
    return None if found is None else found.members.get(member_name)


def get_opaque_obj_repr(obj: Any) -> tuple[str, dict[str, type]]:
    """The object's `__fx_repr__`: a text that makes it, and the classes by the names in it.

    Raises:
        TypeError: there is none, or it gives something else.
    """
    if isinstance(obj, Enum):
        return f"{type(obj).__name__}.{obj.name}", {type(obj).__name__: type(obj)}
    name = type(obj).__name__
    if not hasattr(obj, "__fx_repr__"):
        raise TypeError(f"an opaque value is expected to have a `__fx_repr__`, and {name} has none")
    text, names = obj.__fx_repr__()
    if not isinstance(text, str):
        raise TypeError(f"__fx_repr__ for {name} must return a string as the first element")
    if not isinstance(names, dict):
        raise TypeError(f"__fx_repr__ for {name} must return a dict as the second element")
    return text, names
