"""Nests of containers, flattened to their leaves and built again (torch.utils._pytree).

Modes, subclasses and out-of-tree code use it to reach the tensors of arguments; nothing on the path
of a call does. `optree` does the work, in a name space of its own, and only this module imports it.
Here, as in PyTorch, `None` is a leaf, a dict keeps its insertion order, and a subclass of a
container that nobody registered is a leaf.
"""

import functools
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

import optree
from optree import (
    PyTreeAccessor,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
)

from dispatch._C.tensor import Size

__all__ = [
    "GetAttrKey",
    "KeyPath",
    "LeafSpec",
    "MappingKey",
    "PyTree",
    "PyTreeSpec",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "map_only",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dict",
    "treespec_leaf",
    "treespec_tuple",
]

PyTree = Any
IsLeaf = Callable[[Any], bool] | None
Types = type | tuple[type, ...] | types.UnionType
FlattenFn = Callable[[Any], tuple[list[Any], Any]]
UnflattenFn = Callable[[Iterable[Any], Any], Any]
FlattenWithKeysFn = Callable[[Any], tuple[list[tuple[Any, Any]], Any]]

_NAMESPACE = "tensor-dispatch"
_HOW: dict[str, Any] = {"none_is_leaf": True, "namespace": _NAMESPACE}
_insertion_ordered = optree.dict_insertion_ordered(True, namespace=_NAMESPACE)
_insertion_ordered.__enter__()  # for good, and in our name space only

_unflatten_fns: dict[type, UnflattenFn] = {}
_without_keys: set[type] = set()


# ---- keys of a path


class SequenceKey(NamedTuple):
    """The step to an item of a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.idx]


class MappingKey(NamedTuple):
    """The step to a value of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.key]


class GetAttrKey(NamedTuple):
    """The step to an attribute: a field of a named tuple, or what a registered class says."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, parent: Any) -> Any:
        return getattr(parent, self.name)


KeyPath = tuple[Any, ...]


def _key_path(accessor: PyTreeAccessor) -> KeyPath:
    return tuple(map(_key, accessor))


def _key(entry: optree.PyTreeEntry) -> Any:
    cls: Any = entry.type
    if cls in _without_keys:
        raise ValueError(f"no paths into {cls}: registered without flatten_with_keys_fn")
    if cls in _unflatten_fns:
        return entry.entry
    if is_namedtuple_class(cls):
        return GetAttrKey(cls._fields[entry.entry])
    return MappingKey(entry.entry) if issubclass(cls, Mapping) else SequenceKey(entry.entry)


def keystr(kp: KeyPath) -> str:
    """A path as it would be written in Python.

    >>> keystr((MappingKey("a"), SequenceKey(1)))
    "['a'][1]"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What stands at a path."""
    return functools.reduce(lambda parent, key: key.get(parent), kp, obj)


# ---- structure


class TreeSpec:
    """The structure of a nest: everything but its leaves (torch.utils._pytree.TreeSpec).

    Args:
        type: the container's class (`namedtuple` itself for named tuples); None for a leaf.
        context: what else it takes to build it: keys, a maximal length, a named tuple's class.
        children_specs: the structures of the children, in order.
    """

    __slots__ = ("_spec",)
    _spec: optree.PyTreeSpec

    def __init__(self, type: Any, context: Any, children_specs: Iterable["TreeSpec"] = ()) -> None:
        children = [child._spec for child in children_specs]
        if type is None:
            self._spec = optree.treespec_leaf(**_HOW)
        else:
            self._spec = optree.treespec_from_collection(_build(type, context, children), **_HOW)

    @classmethod
    def _of(cls, spec: optree.PyTreeSpec) -> Self:
        made = cls.__new__(cls)
        made._spec = spec
        return made

    @property
    def type(self) -> Any:
        cls = self._spec.type
        return namedtuple if cls is not None and is_namedtuple_class(cls) else cls

    @property
    def context(self) -> Any:
        # The pickled state lists the nodes, the root last; its third field is what the node needs.
        state: Any = self._spec.__getstate__()
        data = state[0][-1][2]
        return list(data) if self._spec.type is defaultdict else data

    @property
    def num_nodes(self) -> int:
        return self._spec.num_nodes

    @property
    def num_leaves(self) -> int:
        return self._spec.num_leaves

    @property
    def num_children(self) -> int:
        return self._spec.num_children

    @property
    def children_specs(self) -> list["TreeSpec"]:
        return self.children()

    def children(self) -> list["TreeSpec"]:
        """The structures of the children."""
        return [TreeSpec._of(child) for child in self._spec.children()]

    def child(self, index: int) -> "TreeSpec":
        """The structure of one child."""
        return TreeSpec._of(self._spec.child(index))

    def is_leaf(self) -> bool:
        return self._spec.type is None

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of `tree` that stand where this structure has leaves.

        Raises:
            ValueError: `tree` has another structure above them.
        """
        return self._spec.flatten_up_to(tree)

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The nest with these leaves.

        Raises:
            ValueError: not as many leaves as the structure has.
        """
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"unflatten: expected {self.num_leaves} leaves, got {len(leaves)}\n  {self!r}"
            )
        return self._spec.unflatten(leaves)

    def __eq__(self, other: object) -> bool:
        return self._spec == other._spec if isinstance(other, TreeSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.type, self.num_nodes, self.num_leaves))

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.is_leaf():
            return "*"
        indent += 2
        children = (",\n" + " " * indent).join(c._text(indent) for c in self.children())
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"

    def __reduce__(self) -> Any:
        return TreeSpec._of, (self._spec,)


PyTreeSpec = TreeSpec


class _LeafSpecMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(TreeSpec, metaclass=_LeafSpecMeta):
    """The structure of a leaf: `LeafSpec()` makes one, every leaf is an instance."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None)


def _build(cls: Any, context: Any, children: list[Any]) -> Any:
    """One container with these children."""
    if cls in _unflatten_fns:
        return _unflatten_fns[cls](children, context)
    if cls in (dict, OrderedDict):
        return cls(zip(context, children, strict=True))
    if cls is defaultdict:
        return defaultdict(context[0], zip(context[1], children, strict=True))
    if cls is deque:
        return deque(children, maxlen=context)
    if cls is namedtuple:
        return context(*children)
    if cls in (list, tuple):
        return cls(children)
    raise ValueError(f"TreeSpec: {cls!r} is not registered; register_pytree_node does that")


def treespec_leaf() -> TreeSpec:
    """The structure of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple with these children."""
    return TreeSpec(tuple, None, iterable)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The structure of a dict with these children."""
    items = dict(mapping, **kwargs)
    return TreeSpec(dict, list(items), items.values())


# ---- registration


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Make instances of exactly `cls` nodes.

    Args:
        flatten_fn: instance -> (children, context).
        unflatten_fn: (children, context) -> instance.
        flatten_with_keys_fn: instance -> ([(key, child), ...], context); the `..._with_path`
            functions need it.

    Raises:
        ValueError: `cls` is a node already.
    """

    def flatten(tree: Any) -> tuple[Any, ...]:
        if flatten_with_keys_fn is None:
            return flatten_fn(tree)
        pairs, context = flatten_with_keys_fn(tree)
        return [child for _, child in pairs], context, [key for key, _ in pairs]

    def unflatten(context: Any, children: Iterable[Any]) -> Any:
        return unflatten_fn(children, context)

    if cls in _unflatten_fns or cls in (list, tuple, dict, OrderedDict, defaultdict, deque):
        raise ValueError(f"register_pytree_node: {cls} is already registered as pytree node")
    optree.register_pytree_node(cls, flatten, unflatten, namespace=_NAMESPACE)
    _unflatten_fns[cls] = unflatten_fn
    if flatten_with_keys_fn is None:
        _without_keys.add(cls)


register_pytree_node(
    Size,
    lambda size: (list(size), None),
    lambda sizes, _: Size(sizes),
    flatten_with_keys_fn=lambda size: ([(SequenceKey(i), n) for i, n in enumerate(size)], None),
)


# ---- flattening and building


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the structure that builds the nest from them.

    >>> leaves, spec = tree_flatten({"b": [1, None], "a": 2})
    >>> leaves
    [1, None, 2]
    >>> tree_unflatten("xyz", spec)
    {'b': ['x', 'y'], 'a': 'z'}
    """
    leaves, spec = optree.tree_flatten(tree, is_leaf, **_HOW)
    return leaves, TreeSpec._of(spec)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The nest of this structure with these leaves.

    Raises:
        TypeError: `treespec` is not a TreeSpec.
        ValueError: not as many leaves as the structure has.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten: expected a TreeSpec, got {type(treespec)}")
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one after the other."""
    return iter(optree.tree_iter(tree, is_leaf, **_HOW))


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves in order."""
    return optree.tree_leaves(tree, is_leaf, **_HOW)


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return tree_leaves((args, kwargs))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure without the leaves."""
    return TreeSpec._of(optree.tree_structure(tree, is_leaf, **_HOW))


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether the nest is one leaf."""
    return optree.tree_is_leaf(tree, is_leaf, **_HOW)


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with the path to each, and the structure."""
    accessors, leaves, spec = optree.tree_flatten_with_accessor(tree, is_leaf, **_HOW)
    return list(zip(map(_key_path, accessors), leaves, strict=True)), TreeSpec._of(spec)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves with the path to each."""
    return tree_flatten_with_path(tree, is_leaf)[0]


# ---- mapping


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The nest with `func(leaf, *parts of rests at the same place)` in place of each leaf.

    Raises:
        ValueError: one of `rests` has another structure.
    """
    return optree.tree_map(func, tree, *rests, is_leaf=is_leaf, **_HOW)


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call `func` as `tree_map` does, and return `tree` itself."""
    return optree.tree_map_(func, tree, *rests, is_leaf=is_leaf, **_HOW)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` with the path as first argument."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [path for path, _ in pairs], [leaf for _, leaf in pairs]
    others = (spec.flatten_up_to(rest) for rest in rests)
    return spec.unflatten(map(func, paths, leaves, *others))


def map_only(
    type_or_types_or_pred: Types | Callable[[Any], bool], /
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: apply the function to values of these types, return others as they are."""
    if isinstance(type_or_types_or_pred, (type, tuple, types.UnionType)):
        wanted: Callable[[Any], bool] = functools.partial(_is_one, type_or_types_or_pred)
    elif callable(type_or_types_or_pred):
        wanted = type_or_types_or_pred
    else:
        raise TypeError("map_only: expected a type, a tuple of types, or a callable predicate")

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: func(x) if wanted(x) else x

    return decorate


def _is_one(types_: Types, value: Any) -> bool:
    return isinstance(value, types_)


def tree_map_only(
    type_or_types_or_pred: Types | Callable[[Any], bool],
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map` over the leaves of these types (or that the predicate accepts) only."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Types | Callable[[Any], bool],
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map_` over the leaves of these types (or that the predicate accepts) only."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


# ---- questions


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Types,
    /,
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> bool:
    """Whether `pred` holds for every leaf of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Types,
    /,
    pred: Callable[[Any], bool],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> bool:
    """Whether `pred` holds for some leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """Leaves of `tree`, each repeated for the leaves of `treespec` below it; None: no fit."""
    full = treespec.unflatten(range(treespec.num_leaves))
    try:
        return optree.broadcast_prefix(tree, full, is_leaf, **_HOW)
    except ValueError:
        return None
