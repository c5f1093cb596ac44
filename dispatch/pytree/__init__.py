"""Nests of containers, flattened to their leaves and built again (torch.utils._pytree).

Modes, subclasses and out-of-tree code use it to reach the tensors of arguments; nothing on the path
of a call does. `keys` and `kinds` stand alone, `nodes` says what can be taken apart, `spec` (which
is compiled) does it, `walk` and `text` are written over that. As in PyTorch, `None` is a leaf, a
dict keeps its insertion order, and a subclass of a container that nobody registered is a leaf.
"""

from dispatch.pytree import nodes, spec, text, walk
from dispatch.pytree.keys import (
    GetAttrKey,
    KeyEntry,
    KeyPath,
    MappingKey,
    SequenceKey,
    key_get,
    keystr,
)
from dispatch.pytree.kinds import (
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    structseq,
)
from dispatch.pytree.nodes import (
    BUILTIN_TYPES,
    CONSTANT_NODES,
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    ConstantNode,
    Context,
    DumpableContext,
    FlattenFn,
    FlattenWithKeysFn,
    FromDumpableContextFn,
    NodeDef,
    ToDumpableContextFn,
    UnflattenFn,
    is_constant_class,
    register_constant,
    register_dataclass,
    register_pytree_node,
)
from dispatch.pytree.spec import (
    LeafSpec,
    TreeSpec,
    tree_flatten,
    tree_is_leaf,
    treespec_dict,
    treespec_leaf,
    treespec_tuple,
)
from dispatch.pytree.text import (
    DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL,
    EnumEncoder,
    enum_object_hook,
    pytree_to_str,
    str_to_pytree,
    treespec_dumps,
    treespec_loads,
    treespec_pprint,
)
from dispatch.pytree.walk import (
    PyTree,
    arg_tree_leaves,
    map_only,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten_with_path,
    tree_iter,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_map_with_path,
    tree_structure,
    tree_unflatten,
)

__all__ = [
    "BUILTIN_TYPES",
    "CONSTANT_NODES",
    "DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL",
    "NO_SERIALIZED_TYPE_NAME_FOUND",
    "SERIALIZED_TYPE_TO_PYTHON_TYPE",
    "STANDARD_DICT_TYPES",
    "SUPPORTED_NODES",
    "SUPPORTED_SERIALIZED_TYPES",
    "ConstantNode",
    "Context",
    "DumpableContext",
    "EnumEncoder",
    "FlattenFn",
    "FlattenWithKeysFn",
    "FromDumpableContextFn",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "PyTreeSpec",
    "SequenceKey",
    "ToDumpableContextFn",
    "TreeSpec",
    "UnflattenFn",
    "arg_tree_leaves",
    "enum_object_hook",
    "is_constant_class",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "map_only",
    "pytree_to_str",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "str_to_pytree",
    "structseq",
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
    "treespec_dumps",
    "treespec_leaf",
    "treespec_loads",
    "treespec_pprint",
    "treespec_tuple",
]

PyTreeSpec = TreeSpec

# PyTorch's private names that programs use.
_broadcast_to_and_flatten = walk.broadcast_to_and_flatten
_deregister_pytree_node = nodes.deregister
_get_node_type = spec.node_type_of
_is_constant_holder = text.is_constant_holder
_private_register_pytree_node = nodes.register
_register_namedtuple = nodes.register_namedtuple
_register_pytree_node = nodes.register_pytree_node_again
_retrieve_constant = text.retrieve_constant
_SerializeNodeDef = nodes.SerializeNodeDef
