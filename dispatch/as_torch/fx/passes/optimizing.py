"""Layers made one, dropouts taken out, parts of graphs (torch.fx.experimental.optimization)."""

import copy
from collections.abc import Iterable
from typing import Any

from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.interpreter import Transformer
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.tracer import symbolic_trace
from dispatch.as_torch.nn import modules as layers
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module",
]  # fmt: skip

_FUSED = (
    (layers.Conv1d, layers.BatchNorm1d, fuse_conv_bn_eval),
    (layers.Conv2d, layers.BatchNorm2d, fuse_conv_bn_eval),
    (layers.Conv3d, layers.BatchNorm3d, fuse_conv_bn_eval),
    (layers.Linear, layers.BatchNorm1d, fuse_linear_bn_eval),
)


def _parent_name(target: str) -> tuple[str, str]:
    """A path as that of the parent, and the last name."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(
    pattern: Iterable[type], node: Node, modules: dict[str, Any]
) -> bool:
    """Whether a call of a module of the second class takes what one of the first class gives."""
    if not node.args:
        return False
    for kind, one in zip(pattern, (node.args[0], node), strict=False):
        if not isinstance(one, Node) or one.op != "call_module":
            return False
        if type(modules.get(one.target)) is not kind:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Put another module where a node calls one."""
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """A module with batch norms (in evaluation) put into the layers before them.

    Args:
        model: what is traced.
        inplace: change its layers instead of copies.
        no_trace: it is a graph module, and is not traced.
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for first, second, fused in _FUSED:
        for node in graph.nodes:
            if not matches_module_pattern((first, second), node, modules):
                continue
            before: Any = node.args[0]
            norm = modules[node.target]
            if len(before.users) > 1 or not norm.track_running_stats:
                continue
            replace_node_module(before, modules, fused(modules[before.target], norm))
            node.replace_all_uses_with(before)
            graph.erase_node(node)
    return GraphModule(traced, graph)


class _WithoutDropout(Transformer):
    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(self.submodules[target], layers.Dropout):
            return args[0]
        return super().call_module(target, args, kwargs)


def remove_dropout(model: Module) -> GraphModule:
    """A module without calls of `Dropout`."""
    return _WithoutDropout(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """A module of some nodes: it takes `inputs` and gives a list of `outputs`."""
    graph = Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)
