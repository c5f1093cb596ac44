"""Which classes are nodes: how each comes apart, is built again, and is named in a written spec.

`spec` looks classes up in `SUPPORTED_NODES`, `text` in the two tables of serialized names. A class
counts exactly, its subclasses do not; named tuples all stand under the function `namedtuple`.
Python's containers and the dispatcher's own (`Size`, results with names) are registered here.
"""

import dataclasses
import functools
import importlib
import os
import threading
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from dispatch._C.size import Size
from dispatch.pytree.keys import GetAttrKey, KeyEntry, MappingKey, SequenceKey

__all__ = [
    "BUILTIN_TYPES",
    "CONSTANT_NODES",
    "NO_SERIALIZED_TYPE_NAME_FOUND",
    "SERIALIZED_TYPE_TO_PYTHON_TYPE",
    "STANDARD_DICT_TYPES",
    "SUPPORTED_NODES",
    "SUPPORTED_SERIALIZED_TYPES",
    "ConstantNode",
    "Context",
    "DumpableContext",
    "FlattenFn",
    "FlattenWithKeysFn",
    "FromDumpableContextFn",
    "NodeDef",
    "SerializeNodeDef",
    "ToDumpableContextFn",
    "UnflattenFn",
    "deregister",
    "found_object",
    "is_constant_class",
    "refuse_nodes",
    "register",
    "register_constant",
    "register_dataclass",
    "register_named_results",
    "register_namedtuple",
    "register_pytree_node",
    "register_pytree_node_again",
]

T = TypeVar("T")
Context = Any
DumpableContext = Any  # what JSON can hold
FlattenFn = Callable[[Any], tuple[Iterable[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], Any]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
FlattenWithKeysFn = Callable[[Any], tuple[list[tuple[KeyEntry, Any]], Context]]


class NodeDef(NamedTuple):
    """How nodes of a class come apart and are built."""

    type: Any
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class SerializeNodeDef(NamedTuple):
    """How a node of a class is written: its name, and its context as JSON's values."""

    typ: Any
    serialized_type_name: str
    to_dumpable_context: ToDumpableContextFn | None
    from_dumpable_context: FromDumpableContextFn | None


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantNode(Generic[T]):
    """The context of a node that is a constant: the whole value."""

    value: T


NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"
SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()
STANDARD_DICT_TYPES = frozenset((dict, OrderedDict, defaultdict))
BUILTIN_TYPES = frozenset((tuple, list, namedtuple, deque)) | STANDARD_DICT_TYPES
_lock = threading.RLock()
_refusals: list[Callable[[Any], None]] = []  # of rooms above, asked of each new node
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


# ---- registration


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Make instances of exactly `cls` nodes.

    Args:
        flatten_fn: instance -> (children, context).
        unflatten_fn: (children, context) -> instance.
        serialized_type_name: the name in what `treespec_dumps` writes, which needs one.
        to_dumpable_context, from_dumpable_context: context -> values of JSON, and back; both or
            neither. Without them the context itself must be such a value.
        flatten_with_keys_fn: instance -> ([(key, child), ...], context); the `..._with_path`
            functions need it.

    Raises:
        ValueError: `cls` is a node already, or one of the two context functions is missing.
    """
    with _lock:
        if cls in SUPPORTED_NODES:
            raise ValueError(f"{cls} is already registered as pytree node.")
        register(
            cls,
            flatten_fn,
            unflatten_fn,
            serialized_type_name=serialized_type_name,
            to_dumpable_context=to_dumpable_context,
            from_dumpable_context=from_dumpable_context,
            flatten_with_keys_fn=flatten_with_keys_fn,
        )


def refuse_nodes(refuse: Callable[[Any], None]) -> None:
    """Ask `refuse` of each class that is to be a node; it raises for one that must not be."""
    _refusals.append(refuse)


def register(
    cls: Any,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """`register_pytree_node` in place of what may be registered already, with a warning."""
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered."
        )
    for refuse in _refusals:
        refuse(cls)
    name = serialized_type_name or NO_SERIALIZED_TYPE_NAME_FOUND
    with _lock:
        if cls in SUPPORTED_NODES:
            warnings.warn(
                f"{cls} is already registered as pytree node. "
                "Overwriting the previous registration.",
                stacklevel=3,
            )
        SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
        SUPPORTED_SERIALIZED_TYPES[cls] = SerializeNodeDef(
            cls, name, to_dumpable_context, from_dumpable_context
        )
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def register_pytree_node_again(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """The older `register_pytree_node`, which replaces what is registered; deprecated."""
    warnings.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated: use `register_pytree_node`",
        FutureWarning,
        stacklevel=2,
    )
    if to_str_fn is not None or maybe_from_str_fn is not None:
        warnings.warn(
            "`to_str_fn` and `maybe_from_str_fn` is deprecated and not used: give "
            "`to_dumpable_context` and `from_dumpable_context`",
            FutureWarning,
            stacklevel=2,
        )
    register(
        cls,
        flatten_fn,
        unflatten_fn,
        serialized_type_name=serialized_type_name,
        to_dumpable_context=to_dumpable_context,
        from_dumpable_context=from_dumpable_context,
        flatten_with_keys_fn=flatten_with_keys_fn,
    )


def deregister(cls: type) -> None:
    """Make instances of `cls` leaves again; `KeyError` when they are."""
    with _lock:
        del SUPPORTED_NODES[cls]
        name = SUPPORTED_SERIALIZED_TYPES.pop(cls).serialized_type_name
        SERIALIZED_TYPE_TO_PYTHON_TYPE.pop(name, None)
        CONSTANT_NODES.discard(cls)


# ---- dataclasses and constants


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make instances of a dataclass nodes; the values of its fields are the children.

    A field that is None is no child, but part of the structure.

    Args:
        field_names: what its `__init__` takes; by default the dataclass' own init fields. A class
            that is no dataclass must give them.
        drop_field_names: init fields that have a default, and are left out.

    Raises:
        ValueError: the names are not those of the fields.
    """
    names = _field_names(cls, field_names, set(drop_field_names or ()))

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        values = {name: getattr(obj, name) for name in names}
        present = [name for name in names if values[name] is not None]
        absent = [name for name in names if values[name] is None]
        return [values[name] for name in present], [present, absent]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        present, absent = context
        return cls(**dict(zip(present, values, strict=True)), **dict.fromkeys(absent))

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
        values, context = flatten(obj)
        return list(zip(map(GetAttrKey, context[0]), values, strict=True)), context

    register(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def _field_names(cls: type, given: list[str] | None, dropped: set[str]) -> list[str]:
    if not dataclasses.is_dataclass(cls):
        if given is None:
            raise ValueError(
                "field_names must be specified with a list of all fields used to initialize "
                f"{cls}, as it is not a dataclass."
            )
        return given
    own = [field.name for field in dataclasses.fields(cls) if field.init]
    if given is None:
        return own
    wanted = set(own) - dropped
    problems = []
    if missing := wanted - set(given):
        problems.append(f"Missing fields in `field_names`: {missing} (or drop_field_names).")
    if unexpected := set(given) - wanted:
        problems.append(f"Unexpected fields in `field_names`: {unexpected}.")
    if problems:
        text = "field_names does not include all dataclass fields.\n"
        raise ValueError(text + "\n".join(problems))
    return given


def register_constant(cls: type) -> None:
    """Make instances of `cls` nodes without children: the value is part of the structure.

    Raises:
        TypeError: values of `cls` cannot be compared or hashed, which structures are.
    """
    for method, default in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, method) is default:
            raise TypeError(
                f"register_constant(cls) expects `cls` to have a non-default `{method}` "
                "implementation."
            )

    def flatten(value: Any) -> tuple[list[Any], Context]:
        return [], ConstantNode(value)

    with _lock:
        register(cls, flatten, lambda _, context: context.value, flatten_with_keys_fn=flatten)
        CONSTANT_NODES.add(cls)


def is_constant_class(cls: type) -> bool:
    """Whether `register_constant` has had `cls`."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


# ---- containers


def _in_order(container: Any) -> tuple[list[Any], Context]:
    return list(container), None


def _in_order_with_keys(container: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return [(SequenceKey(i), item) for i, item in enumerate(container)], None


def _list(values: Iterable[Any], _: Context) -> Any:
    return list(values)


def _tuple(values: Iterable[Any], _: Context) -> Any:
    return tuple(values)


def _dict_flatten(mapping: Any) -> tuple[list[Any], Context]:
    return list(mapping.values()), list(mapping)


def _dict_flatten_with_keys(mapping: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return [(MappingKey(key), value) for key, value in mapping.items()], list(mapping)


def _dict(values: Iterable[Any], keys: Context) -> Any:
    return dict(zip(keys, values, strict=True))


def _ordered_dict(values: Iterable[Any], keys: Context) -> Any:
    return OrderedDict(zip(keys, values, strict=True))


def _defaultdict_flatten(mapping: Any) -> tuple[list[Any], Context]:
    return list(mapping.values()), [mapping.default_factory, list(mapping)]


def _defaultdict_flatten_with_keys(mapping: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _dict_flatten_with_keys(mapping)[0], _defaultdict_flatten(mapping)[1]


def _defaultdict(values: Iterable[Any], context: Context) -> Any:
    return defaultdict(context[0], zip(context[1], values, strict=True))


def _deque_flatten(items: Any) -> tuple[list[Any], Context]:
    return list(items), items.maxlen


def _deque_flatten_with_keys(items: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _in_order_with_keys(items)[0], items.maxlen


def _deque(values: Iterable[Any], maxlen: Context) -> Any:
    return deque(values, maxlen=maxlen)


def _namedtuple_flatten(value: Any) -> tuple[list[Any], Context]:
    return list(value), type(value)


def _namedtuple_flatten_with_keys(value: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return list(zip(map(GetAttrKey, value._fields), value, strict=True)), type(value)


def _namedtuple(values: Iterable[Any], cls: Context) -> Any:
    return cls(*values)


_CONTAINERS: dict[type, tuple[FlattenFn, UnflattenFn, FlattenWithKeysFn, str]] = {
    tuple: (_in_order, _tuple, _in_order_with_keys, "builtins.tuple"),
    list: (_in_order, _list, _in_order_with_keys, "builtins.list"),
    dict: (_dict_flatten, _dict, _dict_flatten_with_keys, "builtins.dict"),
    OrderedDict: (
        _dict_flatten, _ordered_dict, _dict_flatten_with_keys, "collections.OrderedDict",
    ),
    deque: (_deque_flatten, _deque, _deque_flatten_with_keys, "collections.deque"),
    # A Size that is built again is a plain tuple: its leaves may be anything by then.
    Size: (_in_order, _tuple, _in_order_with_keys, "torch.Size"),
}  # fmt: skip


# ---- containers whose context needs words of its own


def _defaultdict_written(context: Context) -> DumpableContext:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _defaultdict_read(written: DumpableContext) -> Context:
    names = ("default_factory_module", "default_factory_name", "dict_context")
    if not isinstance(written, dict) or set(written) != set(names):
        raise ValueError(f"defaultdict: expected an object with {', '.join(names)}")
    return [found_object(written[names[0]], written[names[1]]), written["dict_context"]]


def found_object(module: str, name: str) -> Any:
    """What a module calls `name` (dotted for what stands in a class)."""
    if not isinstance(module, str) or not isinstance(name, str):
        raise TypeError("expected the names of a module and of an object in it")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def _namedtuple_written(cls: Context) -> DumpableContext:
    known = SUPPORTED_SERIALIZED_TYPES.get(cls)
    if known is None or known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} without a serialized_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return known.serialized_type_name


def _namedtuple_read(name: DumpableContext) -> Context:
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {name}: nobody registered that name."
        )
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[name]


def register_namedtuple(cls: Any, *, serialized_type_name: str) -> None:
    """Give a class of named tuples a name in written specs; they are nodes in any case."""
    register(
        cls,
        _namedtuple_flatten,
        _namedtuple,
        serialized_type_name=serialized_type_name,
        to_dumpable_context=_namedtuple_written,
        from_dumpable_context=_namedtuple_read,
        flatten_with_keys_fn=_namedtuple_flatten_with_keys,
    )


def register_named_results(cls: type) -> None:
    """Make a class of `return_types` a node."""
    register(
        cls,
        _in_order,
        lambda values, _: cls(tuple(values)),
        flatten_with_keys_fn=_in_order_with_keys,
    )


for _cls, (_flatten, _unflatten, _flatten_with_keys, _name) in _CONTAINERS.items():
    register(
        _cls,
        _flatten,
        _unflatten,
        serialized_type_name=_name,
        flatten_with_keys_fn=_flatten_with_keys,
    )
register(
    defaultdict,
    _defaultdict_flatten,
    _defaultdict,
    serialized_type_name="collections.defaultdict",
    to_dumpable_context=_defaultdict_written,
    from_dumpable_context=_defaultdict_read,
    flatten_with_keys_fn=_defaultdict_flatten_with_keys,
)
register_namedtuple(namedtuple, serialized_type_name="collections.namedtuple")
