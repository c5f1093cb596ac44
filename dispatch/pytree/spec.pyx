# cython: nonecheck=True
"""The structure of a nest, and the walks that take a nest apart and build it (torch.utils._pytree.TreeSpec).

`walk` and `text` are written over these: a nest becomes a flat list of leaves and a `TreeSpec`, which is never changed once
it is made, and becomes a nest again. What a class is made of is asked of `nodes.SUPPORTED_NODES` at each node; modes and
subclasses take apart the arguments of every call they see, so this is compiled. A nest too deep is a RecursionError.
"""
import warnings
from collections import defaultdict, deque, namedtuple

from dispatch._C.naming cimport full_name
from dispatch._C.stack cimport enter_call, leave_call

from dispatch.pytree.kinds import is_namedtuple_class
from dispatch.pytree.nodes import BUILTIN_TYPES, STANDARD_DICT_TYPES, SUPPORTED_NODES, ConstantNode, register_named_results

__all__ = [
    "LeafSpec", "TreeSpec", "leaves_of", "node_type_of", "tree_flatten", "tree_is_leaf", "treespec_dict", "treespec_leaf",
    "treespec_tuple",
]

cdef dict NODES = SUPPORTED_NODES
cdef object NAMED_TUPLE = namedtuple
cdef enum:
    FLATTEN = 1                # fields of a NodeDef
    UNFLATTEN = 2


cdef object node_type(object tree):
    """The key of a value in `SUPPORTED_NODES`, if it is there: its class, or `namedtuple`."""
    cdef type cls = type(tree)
    if cls is tuple or cls is list or cls is dict or not issubclass(cls, tuple):
        return cls
    if is_namedtuple_class(cls):
        return NAMED_TUPLE
    if cls not in NODES and cls.__module__ == full_name("return_types"):
        register_named_results(cls)            # these classes are made when they are first needed
    return cls


def node_type_of(tree):
    """The key of a value in `SUPPORTED_NODES`, if it is there: its class, or `namedtuple`."""
    return node_type(tree)


cdef bint stands_alone(object tree, object is_leaf, object cls) except -1:
    return (is_leaf is not None and is_leaf(tree)) or cls not in NODES


def tree_is_leaf(tree, is_leaf=None):
    """Whether the nest is one leaf."""
    return stands_alone(tree, is_leaf, node_type(tree))


cdef tuple flattened(object cls, object tree):
    """(children, context) as a class's flatten function gives them."""
    cdef tuple found = tuple((<tuple>NODES[cls])[FLATTEN](tree))
    if len(found) != 2:
        raise ValueError(f"the flatten_fn of {cls} must give (children, context), not {len(found)} values")
    return found


# ---- taking apart


cdef TreeSpec take_apart(object tree, object is_leaf, list leaves):
    """The structure of a nest, whose leaves are appended to `leaves`."""
    cdef object cls = node_type(tree)
    cdef list children
    if stands_alone(tree, is_leaf, cls):
        leaves.append(tree)
        return the_leaf
    items, context = flattened(cls, tree)
    enter_call(" while a nest is flattened")
    try:
        children = [take_apart(item, is_leaf, leaves) for item in items]
    finally:
        leave_call()
    return new_spec(cls, context, children)


cdef int collect(object tree, object is_leaf, list leaves) except -1:
    """`take_apart` without the structure."""
    cdef object cls = node_type(tree)
    if stands_alone(tree, is_leaf, cls):
        leaves.append(tree)
        return 0
    enter_call(" while a nest is flattened")
    try:
        for item in flattened(cls, tree)[0]:
            collect(item, is_leaf, leaves)
    finally:
        leave_call()
    return 0


def tree_flatten(tree, is_leaf=None):
    """The leaves in order, and the structure that builds the nest from them.

    >>> leaves, spec = tree_flatten({"b": [1, None], "a": 2})
    >>> leaves
    [1, None, 2]
    >>> spec.unflatten("xyz")
    {'b': ['x', 'y'], 'a': 'z'}
    """
    cdef list leaves = []
    spec = take_apart(tree, is_leaf, leaves)
    return leaves, spec


def leaves_of(tree, is_leaf=None):
    """The leaves in order."""
    cdef list leaves = []
    collect(tree, is_leaf, leaves)
    return leaves


# ---- the structure


cdef class TreeSpec:
    """The structure of a nest: everything but its leaves.

    Args:
        type: the container's class (the function `namedtuple` for all named tuples); None for a leaf.
        context: what else it takes to build it: keys, a maximal length, a named tuple's class.
        children_specs: the structures of the children, in order.
    """
    cdef readonly object type
    cdef readonly object _context
    cdef readonly list _children
    cdef readonly Py_ssize_t num_nodes, num_leaves, num_children

    def __cinit__(self):
        """One that nobody initialises is a leaf: counts and children agree."""
        self._children = []
        self.num_nodes = self.num_leaves = 1

    def __init__(self, type, context, children_specs):
        self.fill(type, context, list(children_specs))

    cdef int fill(self, object cls, object context, list children) except -1:
        cdef TreeSpec child
        if cls is None and (context is not None or children):
            raise AssertionError("a leaf has neither context nor children")
        self.type = cls
        self._context = context
        self._children = children
        self.num_nodes = 1
        self.num_leaves = cls is None
        self.num_children = len(children)
        for child in children:
            self.num_nodes += child.num_nodes
            self.num_leaves += child.num_leaves
        return 0

    @property
    def context(self):
        return self._context

    @property
    def children_specs(self):
        warnings.warn("`treespec.children_specs` is deprecated: use `child(index)` or `children()`", FutureWarning, stacklevel=1)
        return self._children

    def is_leaf(self):
        """Whether this is the structure of a leaf."""
        return self.num_nodes == 1 and self.num_leaves == 1

    def children(self):
        """The structures of the children."""
        return list(self._children)

    def child(self, index):
        """The structure of one child."""
        return self._children[index]

    def flatten_up_to(self, tree):
        """The parts of `tree` that stand where this structure has leaves.

        Raises:
            ValueError: `tree` has another structure above them.
        """
        cdef list parts = []
        flatten_to(self, tree, parts)
        return parts

    def unflatten(self, leaves):
        """The nest with these leaves.

        Raises:
            ValueError: not as many leaves as the structure has.
        """
        cdef list given = list(leaves)
        cdef Py_ssize_t at = 0
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers to a pytree that holds "
                f"{self.num_leaves} items ({self})."
            )
        return build(self, given, &at)

    def __eq__(self, other):
        cdef TreeSpec theirs
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        theirs = other
        return str(self.type) == str(theirs.type) and self._context == theirs._context and self._children == theirs._children

    def __hash__(self):
        context = self._context
        if self.type is defaultdict:
            context = context[0], tuple(context[1])
        elif self.type in STANDARD_DICT_TYPES:
            context = tuple(context)
        elif isinstance(context, ConstantNode):
            context = context.value
        elif self.type is not None and self.type not in BUILTIN_TYPES:
            context = None                     # whatever a class keeps there need not be hashable
        enter_call(" while a TreeSpec is hashed")
        try:
            return hash((self.type, context, tuple(self._children)))
        finally:
            leave_call()

    def __repr__(self):
        return text_of(self, 0)

    def __reduce__(self):
        return type(self), (self.type, self._context, self._children)


class LeafSpec(TreeSpec):
    """The structure of a leaf. Deprecated: `treespec_leaf()` gives it, `spec.is_leaf()` asks."""

    def __init__(self):
        warnings.warn(
            "`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and treespec.is_leaf()`",
            FutureWarning, stacklevel=1,
        )
        super().__init__(None, None, ())

    def __reduce__(self):
        return treespec_leaf, ()


cdef TreeSpec new_spec(object cls, object context, list children):
    cdef TreeSpec spec = TreeSpec.__new__(TreeSpec)
    spec.fill(cls, context, children)
    return spec


cdef TreeSpec make_leaf():
    cdef TreeSpec spec = LeafSpec.__new__(LeafSpec)
    spec.fill(None, None, [])
    return spec


cdef TreeSpec the_leaf = make_leaf()


def treespec_leaf():
    """The structure of a leaf."""
    return the_leaf


def treespec_tuple(iterable=(), /):
    """The structure of a tuple with these children."""
    cdef list children = list(iterable)
    if not all(isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return new_spec(tuple, None, children)


def treespec_dict(mapping=(), /, **kwargs):
    """The structure of a dict with these children."""
    cdef dict items = dict(mapping, **kwargs)
    if not all(isinstance(child, TreeSpec) for child in items.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {items!r}.")
    return new_spec(dict, list(items), list(items.values()))


cdef str text_of(TreeSpec spec, int indent):
    """A structure as text, children after the first on lines of their own."""
    if spec.type is None:
        return "*"
    enter_call(" while a TreeSpec is printed")
    try:
        children = (",\n" + " " * (indent + 2)).join([text_of(child, indent + 2) for child in spec._children])
    finally:
        leave_call()
    return f"TreeSpec({spec.type.__name__}, {spec._context}, [{children}])"


# ---- building


cdef object build(TreeSpec spec, list leaves, Py_ssize_t* at):
    """The nest with the leaves from number `at` on, which is moved past those that are used."""
    cdef list children
    if spec.type is None:
        at[0] += 1
        return leaves[at[0] - 1]
    enter_call(" while a nest is built")
    try:
        children = [build(child, leaves, at) for child in spec._children]
    finally:
        leave_call()
    if spec.type not in NODES:
        raise ValueError(f"{spec.type} is not registered as pytree node.")
    return (<tuple>NODES[spec.type])[UNFLATTEN](children, spec._context)


cdef int flatten_to(TreeSpec spec, object tree, list parts) except -1:
    """Append what stands at the leaves of `spec` to `parts`."""
    if spec.type is None:
        parts.append(tree)
        return 0
    children = list(matched_children(spec, tree))
    enter_call(" while a nest is flattened")
    try:
        for child, item in zip(spec._children, children):
            flatten_to(child, item, parts)
    finally:
        leave_call()
    return 0


cdef object matched_children(TreeSpec spec, object tree):
    """The children of a node that must be as `spec` says; standard dicts of any kind match one another, keys in any order."""
    cls = node_type(tree)
    if spec.type in STANDARD_DICT_TYPES and cls in STANDARD_DICT_TYPES:
        check_arity(spec, len(tree))
        return dict_children(spec, tree)
    if cls != spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {cls!r}.")
    children, context = flattened(cls, tree)
    children = list(children)
    check_arity(spec, len(children))
    if cls is not deque and context != spec._context:
        kind = "node type" if cls in BUILTIN_TYPES else "custom node type"
        raise ValueError(f"Node context mismatch for {kind} {cls!r}; expected {spec._context!r}, but got {context!r}.")
    return children


cdef int check_arity(TreeSpec spec, Py_ssize_t n) except -1:
    if n != spec.num_children:
        raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got {n}.")
    return 0


cdef object dict_children(TreeSpec spec, object tree):
    keys = spec._context[1] if spec.type is defaultdict else spec._context
    missing, extra = set(keys).difference(tree), set(tree).difference(keys)
    if missing or extra:
        parts = [f"; {kind} key(s): {found}" for kind, found in (("missing", missing), ("extra", extra)) if found]
        raise ValueError(f"Node keys mismatch{''.join(parts)}.")
    return [tree[key] for key in keys]
