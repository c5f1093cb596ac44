"""Nodes by the module or function that they were traced from (source_matcher_utils)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes of one module or call: what they take and give, and their parameters."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """The nodes that come from these classes, functions or names, apart for each place.

    Args:
        graph: its nodes say in their meta where they come from (`source_fn_stack`, `torch_fn`,
            `nn_module_stack`).
        wanted_sources: classes of modules, functions, or names of functions.
        filter_fn: only places all of whose nodes it takes.
    """
    found: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        source = _source(node, wanted_sources)
        if source is not None:
            place, what = source
            found.setdefault(what, {}).setdefault(place, []).append(node)
    takes = filter_fn or (lambda node: True)
    return {
        what: [_partition(nodes, what) for nodes in places.values() if all(map(takes, nodes))]
        for what, places in found.items()
    }


def _source(node: Node, wanted: list[Any]) -> tuple[str, Any] | None:
    """Where a node comes from: a name of the place, and one of `wanted`."""
    stack = node.meta.get("source_fn_stack")
    if stack is not None:
        place, what = stack[-1]
        return (place, what) if what in wanted else None
    traced = node.meta.get("torch_fn")
    if traced is not None:
        name = traced[1].split(".")[1]
        if name in wanted:
            return traced[0], name
    modules = node.meta.get("nn_module_stack")
    if node.op != "call_function" or not modules:
        return None
    place, kind = list(modules.values())[-1]
    for one in wanted:
        if _is_of(kind, one):
            return place, one
    return None


def _is_of(kind: Any, wanted: Any) -> bool:
    if not isinstance(wanted, type):
        return bool(kind == wanted)
    if isinstance(kind, type):
        return issubclass(kind, wanted)
    return bool(kind == f"{wanted.__module__}.{wanted.__qualname__}")


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inputs = {
        given: None
        for node in nodes
        for given in node.args
        if isinstance(given, Node) and given not in nodes and given.op != "get_attr"
    }
    params = [node for node in nodes if node.op == "get_attr"]
    calls = (node for node in nodes if node.op != "get_attr")
    outputs = [node for node in calls if any(user not in nodes for user in node.users)]
    return SourcePartition(nodes, source, list(inputs), outputs, params)


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether the second takes what the first gives."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)
