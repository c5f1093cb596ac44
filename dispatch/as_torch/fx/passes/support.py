"""Which nodes a backend takes (torch.fx.passes.operator_support)."""

import abc
from collections.abc import Callable, Mapping
from typing import Any

import dispatch
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.passes.order import CALLABLE_NODE_OPS, get_node_target
from dispatch.as_torch.fx.shapes import TensorMetadata

__all__ = [
    "OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain",
    "create_op_support",
]  # fmt: skip


class OperatorSupportBase(abc.ABC):
    """Says of a node whether it is taken."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        """Whether this node is taken; `submodules` are the graph's, by name."""
        raise NotImplementedError


class OperatorSupport(OperatorSupportBase):
    """Takes calls of what a table names.

    Args:
        support_dict: by the name of a target (`get_node_target`): None, or the dtypes that its
            arguments may have, as a pair of a tuple and a dict; None in them: any.
    """

    _support_dict: Mapping[str, Any] = {}

    def __init__(self, support_dict: Mapping[str, Any] | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        """Whether the table has the target, and the arguments their dtypes; inputs are taken."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        wanted = self._support_dict[target]
        if wanted is None:
            return True
        by_place, by_name = wanted
        pairs = list(zip(node.args, by_place, strict=False))
        named = node.kwargs
        pairs += [(named[key], dtypes) for key, dtypes in by_name.items() if key in named]
        return all(
            dtypes is None or not isinstance(given, Node) or _dtype(given) in dtypes
            for given, dtypes in pairs
        )


def create_op_support(
    is_node_supported: Callable[[Mapping[str, Any], Node], bool],
) -> OperatorSupportBase:
    """A function as an `OperatorSupportBase`."""

    class FunctionalOperatorSupport(OperatorSupportBase):
        def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
            return is_node_supported(submodules, node)

    return FunctionalOperatorSupport()


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Takes what all of them take."""
    return create_op_support(
        lambda modules, node: all(one.is_node_supported(modules, node) for one in op_support)
    )


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Takes what one of them takes."""
    return create_op_support(
        lambda modules, node: any(one.is_node_supported(modules, node) for one in op_support)
    )


class OpSupports:
    """Common ones."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: dispatch.dtype) -> OperatorSupportBase:
        """Takes nodes none of whose inputs has this dtype."""
        return create_op_support(
            lambda modules, node: all(_dtype(given) != dtype for given in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Takes nodes whose name is not among these."""
        return create_op_support(lambda modules, node: node.name not in disallow_set)


def _dtype(node: Node) -> Any:
    """Its dtype as `ShapeProp` noted it; the type of what is no tensor."""
    found = node.meta.get("tensor_meta")
    return found.dtype if isinstance(found, TensorMetadata) else node.meta["type"]
