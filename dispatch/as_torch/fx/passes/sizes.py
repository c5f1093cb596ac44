"""Bytes of what nodes give, and other targets for calls (torch.fx.passes.graph_manipulation)."""

from typing import Any, NamedTuple

from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_arg
from dispatch.as_torch.fx.shapes import ShapeProp, TensorMetadata

__all__ = [
    "get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with",
    "size_bytes",
]  # fmt: skip


class size_bytes(NamedTuple):
    """Bytes of a result, and of it and the parameters of the module that gives it."""

    output_size: int
    total_size: int


def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Any, new_op: str, new_target: Any
) -> None:
    """Give `fx_module` a graph that calls something else where it called `old_target`."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = map_arg((node.args, node.kwargs), copies.__getitem__)
            copies[node] = graph.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    fx_module.graph = graph


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Any] | None = None) -> None:
    """Give each node `size_bytes`; `ShapeProp` runs first if there are `args` for it."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            return
        setattr(node, "size_bytes", get_size_of_node(fx_module, node))  # noqa: B010


def get_tensor_meta(node: Node) -> TensorMetadata:
    """What `ShapeProp` found.

    Raises:
        RuntimeError: it did not run.
    """
    found: TensorMetadata | None = node.meta.get("tensor_meta")
    if not found:
        raise RuntimeError(f"node {node} has no metadata of a tensor: run ShapeProp before")
    return found


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """Bytes of what a node gives."""
    meta = get_tensor_meta(node)
    count = meta.shape.numel()
    total = count
    if node.op == "call_module":
        module = fx_module.get_submodule(node.target)
        total += sum(parameter.numel() for parameter in module.parameters())
    each = meta.dtype.itemsize
    return size_bytes(each * count, each * total)
