"""Nodes of a graph as one call of a module of their own (torch.fx.passes.utils.fuser_utils)."""

import copy
import heapq
from collections.abc import Collection, Iterable
from typing import Any

from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.passes.order import stable_topological_sort
from dispatch.as_torch.fx.passes.tags import lift_subgraph_as_module
from dispatch.as_torch.fx.patterns import validate_partition
from dispatch.as_torch.fx.proxy import Proxy

__all__ = [
    "erase_nodes", "fuse_as_graphmodule", "fuse_by_partitions", "insert_subgm", "topo_sort",
    "validate_partition",
]  # fmt: skip


def topo_sort(nodes: list[Node]) -> list[Node]:
    """These nodes, each after those that it takes, else in the given order.

    Raises:
        AssertionError: some need each other.
    """
    at = {node: i for i, node in enumerate(nodes)}
    left = {node: sum(given in at for given in node.all_input_nodes) for node in nodes}
    ready = [(at[node], node) for node in nodes if not left[node]]
    found = []
    while ready:
        _, node = heapq.heappop(ready)
        found.append(node)
        for user in node.users:
            if user in left:
                left[user] -= 1
                if not left[user]:
                    heapq.heappush(ready, (at[user], user))
    if len(found) != len(nodes):
        raise AssertionError(f"nodes that need each other among {nodes}")
    return found


def fuse_as_graphmodule(
    gm: GraphModule, nodes: list[Node], module_name: str,
    partition_lookup_table: Collection[Node] | None = None, *, always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:  # fmt: skip
    """A module that does what these nodes of `gm` do, which stays as it is.

    Args:
        nodes: each after those that it takes.
        module_name: the class of the module.
        partition_lookup_table: all nodes that go into it; `nodes` otherwise.
        always_return_tuple: one result is a tuple too.

    Returns: the module, the nodes that it takes, and those that it gives.

    Raises:
        AssertionError: nodes of another graph, or that cannot run at once.
    """
    for node in nodes:
        if node.graph.owning_module is not gm or node._erased:
            raise AssertionError(f"{node} is not in the graph of {gm._get_name()}")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = nodes if partition_lookup_table is None else partition_lookup_table
    graph = Graph()
    inputs: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def taken(given: Node) -> Node:
        if given in inside:
            return copies[given]
        if given not in inputs:
            inputs[given] = graph.placeholder(given.name, type_expr=given.type)
            inputs[given].meta = copy.copy(given.meta)
        return inputs[given]

    for node in nodes:
        copies[node] = graph.node_copy(node, taken)
    outputs = [node for node in nodes if any(user not in inside for user in node.users)]
    results = tuple(copies[node] for node in outputs)
    graph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    graph.lint()
    made, _ = lift_subgraph_as_module(gm, graph, comp_name="", class_name=module_name)
    return made, tuple(inputs), tuple(outputs)


def insert_subgm(
    gm: GraphModule, sub_gm: GraphModule, orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...], insertion_point: Node | None = None,
) -> GraphModule:  # fmt: skip
    """Call a module in `gm`, and let those that used its nodes use its results.

    Args:
        sub_gm: is put under the name of its class.
        orig_inputs, orig_outputs: what `fuse_as_graphmodule` gave.
        insertion_point: the call comes after it; after the last of `orig_outputs` otherwise.

    Raises:
        AssertionError: neither a place nor outputs are given.
    """
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        if not orig_outputs:
            raise AssertionError("insert_subgm: give insertion_point where nothing is given")
        insertion_point = max(orig_outputs)
    with gm.graph.inserting_after(insertion_point):
        call = gm.graph.call_module(name, args=orig_inputs)
    if not orig_outputs:
        return gm
    items: Any = Proxy(call)
    with gm.graph.inserting_before(call.next):
        if len(orig_outputs) == 1 and not isinstance(sub_gm.graph.output_node().args[0], tuple):
            orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
            return gm
        for i, node in enumerate(orig_outputs):
            node.replace_all_uses_with(items[i].node, propagate_meta=True)
    call.meta["val"] = tuple(node.meta.get("val") for node in orig_outputs)
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Remove nodes, the last one first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule, partitions: Iterable[Collection[Node]], prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:  # fmt: skip
    """Let each of these sets of nodes be a call of a module: `fused_0`, `fused_1` ..."""
    for i, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        made, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{i}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, made, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm
