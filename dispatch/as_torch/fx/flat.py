"""Nests as the generated code of a graph flattens them (torch.fx._pytree)."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

__all__ = ["SUPPORTED_NODES", "register_pytree_flatten_spec", "tree_flatten_spec"]


def _by_key(pytree: Any, spec: Any) -> list[Any]:
    return [pytree[key] for key in spec.context]


def _in_order(pytree: Any, spec: Any) -> list[Any]:
    return [pytree[i] for i in range(spec.num_children)]


SUPPORTED_NODES: dict[Any, Callable[[Any, Any], list[Any]]] = {
    dict: _by_key, OrderedDict: _by_key, list: _in_order, tuple: _in_order,
    namedtuple: _in_order,
}  # fmt: skip


def register_pytree_flatten_spec(
    cls: type,
    flatten_fn_spec: Callable[[Any, Any], list[Any]],
    flatten_fn_exact_match_spec: Callable[[Any, Any], bool] | None = None,
) -> None:
    """Let `flatten_fn_spec(pytree, spec)` give the children of a node of this class.

    Args:
        flatten_fn_exact_match_spec: not asked.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec


def tree_flatten_spec(pytree: Any, spec: Any) -> list[Any]:
    """The leaves of a nest, at the places that the traced one had.

    Args:
        pytree: arguments: a list, or a tuple of a list and a dict of those given by name.
        spec: how the arguments that were traced are nested.

    Raises:
        KeyError, IndexError: a dict or list lacks an item.
        ValueError: a node of another kind than it was.
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        leaves: list[Any] = spec.flatten_up_to(pytree)
        return leaves
    found: list[Any] = []
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    for child, inner in zip(children, spec.children(), strict=True):
        found += tree_flatten_spec(child, inner)
    return found
