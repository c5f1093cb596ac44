"""Calls that are made twice, made once (torch.fx.passes.dialect.common.cse_pass)."""

from typing import Any

import dispatch
from dispatch import pytree
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_arg
from dispatch.as_torch.fx.passes.managers import PassBase, PassResult

__all__ = ["CSEPass", "get_CSE_banned_ops"]

_BANNED = (
    "dropout", "_fused_dropout", "_standard_gamma", "bernoulli", "multinomial", "native_dropout",
    "normal", "poisson", "binomial", "rrelu", "rand_like", "rand", "randint", "randn", "randperm",
    "add_", "sub_", "mul_", "div_", "pow_", "lerp_", "relu_", "sigmoid_", "tanh_",
)  # fmt: skip


def get_CSE_banned_ops() -> set[Any]:
    """Operators that draw numbers or write: calls of them are not alike."""
    return {getattr(dispatch.ops.aten, name) for name in _BANNED}


class CSEPass(PassBase):
    """Calls of one function with the same arguments become the first of them.

    Args:
        banned_ops: operators (without overload) whose calls stay apart.
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        self.banned_ops = banned_ops or set()

    def call(self, graph_module: GraphModule) -> PassResult:
        """A new module, unless there is nothing to do."""
        graph = Graph()
        copies: dict[Node, Node] = {}
        known: dict[Any, Node] = {}
        changed = False
        for node in graph_module.graph.nodes:
            key = self._key(node, copies)
            if key is not None and key in known:
                copies[node] = known[key]
                changed = True
                continue
            copies[node] = graph.node_copy(node, copies.__getitem__)
            if key is not None:
                known[key] = copies[node]
        if not changed:
            return PassResult(graph_module, False)
        return PassResult(GraphModule(graph_module, graph), True)

    def _key(self, node: Node, copies: dict[Node, Node]) -> Any:
        """What is equal for calls that give the same; None for those that stay."""
        target = getattr(node.target, "overloadpacket", node.target)
        if node.op in ("placeholder", "output", "get_attr") or target in self.banned_ops:
            return None
        given = map_arg((node.args, node.kwargs), copies.__getitem__)
        leaves, spec = pytree.tree_flatten(given)
        return node.target, tuple((type(leaf), leaf) for leaf in leaves), str(spec)
