"""Structures as text: JSON that is read again (`treespec_dumps`, `treespec_loads`), and for people.

The format is PyTorch's protocol 1: [1, node], a node being {type, context, children_spec}, a leaf
one whose type is null. Reading looks classes up by the names they were registered with; a member of
an enumeration, and what a defaultdict makes, are imported by name, so text from strangers is not
for this module.
"""

import functools
import json
import warnings
from enum import Enum
from typing import Any

from dispatch.pytree.nodes import (
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
    ConstantNode,
    DumpableContext,
    SerializeNodeDef,
    found_object,
)
from dispatch.pytree.spec import TreeSpec, treespec_leaf

__all__ = [
    "DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL",
    "EnumEncoder",
    "enum_object_hook",
    "is_constant_holder",
    "pytree_to_str",
    "retrieve_constant",
    "str_to_pytree",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


class EnumEncoder(json.JSONEncoder):
    """JSON with members of enumerations in it, by the class's and their own name."""

    def default(self, o: object) -> Any:
        """A member as its class and its name; TypeError for what JSON has no form for."""
        if isinstance(o, Enum):
            cls = type(o)
            return {
                "__enum__": True,
                "fqn": f"{cls.__module__}:{cls.__qualname__}",
                "name": o.name,
            }
        return super().default(o)


def enum_object_hook(obj: dict[str, Any]) -> Any:
    """The member of an enumeration that `EnumEncoder` wrote; other objects as they are."""
    if "__enum__" not in obj:
        return obj
    module, _, name = obj["fqn"].partition(":")
    cls = found_object(module, name)
    if not (isinstance(cls, type) and issubclass(cls, Enum)):
        raise TypeError(f"{obj['fqn']} is no enumeration")
    return cls[obj["name"]]


def _check_protocol(protocol: Any) -> None:
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        known = [DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL]
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {known}")


# ---- writing


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON.

    Raises:
        TypeError: not a TreeSpec, or a context that JSON cannot hold.
        NotImplementedError: a class in it was registered without a name for this.
        ValueError: no such protocol.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _check_protocol(protocol)
    return json.dumps((protocol, _written(treespec)), cls=EnumEncoder)


def _written(spec: TreeSpec) -> dict[str, Any]:
    name = context = None
    if not spec.is_leaf():
        known = _serialize_def(spec.type)
        name, context = known.serialized_type_name, _written_context(spec.context, known)
    children = [_written(child) for child in spec.children()]
    return {"type": name, "context": context, "children_spec": children}


def _serialize_def(cls: Any) -> SerializeNodeDef:
    known = SUPPORTED_SERIALIZED_TYPES.get(cls)
    if known is None:
        raise NotImplementedError(f"Serializing {cls} in pytree is not registered.")
    if known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"No registered serialization name for {cls} found. Please give "
            "register_pytree_node a `serialized_type_name`."
        )
    return known


def _written_context(context: Any, known: SerializeNodeDef) -> DumpableContext:
    if known.to_dumpable_context is not None:
        return known.to_dumpable_context(context)
    try:
        return json.dumps(context, cls=EnumEncoder)
    except TypeError as error:
        raise TypeError(
            f"Unable to serialize context of {known.typ}. Please make the context json "
            "dump-able, or register a to_dumpable_context for it."
        ) from error


# ---- reading


@functools.lru_cache
def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` wrote.

    Raises:
        NotImplementedError: a class in it is not registered here.
        KeyError: an object in it lacks its type, its context or its children.
        TypeError: something else stands where an object, a name or a list is expected.
        ValueError: not two values, or another protocol.
    """
    parts = _of_kind(json.loads(serialized), (list, dict), "a protocol and a structure")
    if len(parts) != 2:
        raise ValueError(f"treespec: expected a protocol and a structure, got {serialized:.60}")
    protocol, node = parts
    _check_protocol(protocol)
    return _read(node)


def _of_kind(value: Any, kind: type | tuple[type, ...], what: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"treespec: expected {what}, got {value!r:.60}")
    return value


def _part(node: dict[str, Any], key: str) -> Any:
    if key not in node:
        raise KeyError(f"treespec: expected type, context and children_spec, got {node!r:.60}")
    return node[key]


def _read(node: Any) -> TreeSpec:
    _of_kind(node, dict, "an object with type, context and children_spec")
    name = _part(node, "type")
    if name is None and _part(node, "context") is None and not _part(node, "children_spec"):
        return treespec_leaf()
    if isinstance(name, list | dict):
        raise TypeError(f"treespec: expected the name of a class, got {name!r:.60}")
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    context = _read_context(_part(node, "context"), SUPPORTED_SERIALIZED_TYPES[cls])
    children = _of_kind(_part(node, "children_spec"), list, "a list of structures")
    return TreeSpec(cls, context, [_read(child) for child in children])


def _read_context(context: DumpableContext, known: SerializeNodeDef) -> Any:
    if known.from_dumpable_context is not None:
        return known.from_dumpable_context(context)
    try:
        return json.loads(context, object_hook=enum_object_hook)
    except TypeError as error:
        raise TypeError(
            f"Unable to deserialize context of {known.typ}. Please make the context json "
            "load-able, or register a from_dumpable_context for it."
        ) from error


# ---- for people, and what is in a structure


class _Asterisk(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The nest with asterisks for leaves.

    >>> from dispatch.pytree import tree_structure
    >>> treespec_pprint(tree_structure([1, {"a": 2}]))
    "[*, {'a': *}]"
    """
    return repr(treespec.unflatten([_Asterisk("*")] * treespec.num_leaves))


def is_constant_holder(spec: TreeSpec) -> bool:
    """Whether the structure is that of a value whose class `register_constant` has had."""
    return isinstance(spec.context, ConstantNode)


def retrieve_constant(spec: TreeSpec) -> Any:
    """The value that a constant's structure holds."""
    if not is_constant_holder(spec):
        raise AssertionError("spec does not correspond to a registered constant pytree")
    return spec.unflatten([])


def _warn_of(name: str, better: str) -> None:
    warnings.warn(f"`{name}` is deprecated: use `{better}`", FutureWarning, stacklevel=3)


def pytree_to_str(treespec: TreeSpec) -> str:
    """`treespec_dumps`; deprecated."""
    _warn_of("pytree_to_str", "treespec_dumps")
    return treespec_dumps(treespec)


def str_to_pytree(json: str) -> TreeSpec:
    """`treespec_loads`; deprecated."""
    _warn_of("str_to_pytree", "treespec_loads")
    return treespec_loads(json)
