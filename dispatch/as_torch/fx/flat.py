"""Nests as the generated code of a graph flattens them (torch.fx._pytree)."""

from collections import OrderedDict
from typing import Any

__all__ = ["tree_flatten_spec"]


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
    if spec.type in (dict, OrderedDict):
        children = [pytree[key] for key in spec.context]
    elif spec.type in (list, tuple):
        children = [pytree[i] for i in range(spec.num_children)]
    else:
        leaves: list[Any] = spec.flatten_up_to(pytree)
        return leaves
    found: list[Any] = []
    for child, inner in zip(children, spec.children(), strict=True):
        found += tree_flatten_spec(child, inner)
    return found
