"""What passes ask of nodes, and graphs in another order (torch.fx.passes.tools_common)."""

import heapq
import operator
from collections import deque
from collections.abc import Mapping
from typing import Any

import dispatch
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.names import qualified_name
from dispatch.as_torch.fx.node import Node

__all__ = [
    "CALLABLE_NODE_OPS", "NodeList", "NodeSet", "TensorOrTensors", "Tensors", "get_acc_ops_name",
    "get_node_target", "is_node_output_tensor", "legalize_graph", "stable_topological_sort",
]  # fmt: skip

CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}
NodeList = list[Node]
NodeSet = set[Node]
Tensors = tuple[dispatch.Tensor] | list[dispatch.Tensor]
TensorOrTensors = dispatch.Tensor | Tensors

_aten = dispatch.ops.aten
_ARITHMETIC = (
    "add", "mul", "sub", "floordiv", "truediv", "mod", "le", "lt", "ge", "gt", "eq", "ne",
)  # fmt: skip
_EARLY = frozenset(  # arithmetic of sizes and checks, which come before what needs them
    [getattr(operator, name) for name in _ARITHMETIC]
    + [
        _aten.sym_constrain_range.default, _aten.sym_constrain_range_for_size.default,
        _aten._assert_async.msg, _aten.scalar_tensor.default, _aten._assert_scalar.default,
    ]
)  # fmt: skip


def get_acc_ops_name(k: Any) -> str:
    """The name of a class or function, short for those of a module `acc_ops`."""
    if isinstance(k, str):
        return k
    home = "acc_ops" if "acc_ops" in (k.__module__ or "") else k.__module__ or ""
    return f"{home}.{k.__name__}".replace("torch._ops.", "torch.ops.")


def get_node_target(submodules: Mapping[str, Any], node: Node) -> str:
    """What a call calls, as a name: of a function, a method, or a module's class.

    Raises:
        AssertionError: the node is no call.
    """
    if node.op not in CALLABLE_NODE_OPS:
        found = f"but found {node.op}"
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, {found}")
    if node.op == "call_module":
        module = submodules[node.target]
        return get_acc_ops_name(getattr(module, "_base_class_origin", type(module)))
    if node.op == "call_method":
        return str(node.target)
    if "acc_ops" in (node.target.__module__ or ""):
        return f"acc_ops.{node.target.__name__}"
    return qualified_name(node.target)


def is_node_output_tensor(node: Node) -> bool:
    """Whether `meta["type"]`, which `ShapeProp` sets, is that of a tensor."""
    found = node.meta.get("type")
    return found is not None and issubclass(found, dispatch.Tensor)


def _waiting(graph: Graph) -> dict[Node, int]:
    return {node: len(node._input_nodes) for node in graph.nodes}


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Give `gm` a graph in which each node comes after those that it takes, breadth first.

    Raises:
        RuntimeError: some need each other.
    """
    left, made = _waiting(gm.graph), Graph()
    copies: dict[Node, Node] = {}
    queue = deque(node for node, count in left.items() if not count)
    while queue:
        node = queue.popleft()
        copies[node] = made.node_copy(node, copies.__getitem__)
        for user in node.users:
            left[user] -= 1
            if not left[user]:
                early = user.op == "call_function" and user.target in _EARLY
                (queue.appendleft if early else queue.append)(user)
    return _given(gm, made, left, RuntimeError)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """As `legalize_graph`, with the least change of the order.

    Raises:
        AssertionError: some nodes need each other.
    """
    left, made = _waiting(gm.graph), Graph()
    copies: dict[Node, Node] = {}
    at = {node: i for i, node in enumerate(gm.graph.nodes)}
    ready = [(at[node], node) for node, count in left.items() if not count]
    heapq.heapify(ready)
    while ready:
        _, node = heapq.heappop(ready)
        copies[node] = made.node_copy(node, copies.__getitem__)
        for user in node.users:
            left[user] -= 1
            if not left[user]:
                heapq.heappush(ready, (at[user], user))
    return _given(gm, made, left, AssertionError)


def _given(
    gm: GraphModule, made: Graph, left: dict[Node, int], kind: type[Exception]
) -> GraphModule:
    waiting = [node for node, count in left.items() if count]
    if waiting:
        raise kind(f"Input graph has cycles, unable to add {waiting}")
    made._codegen = gm.graph._codegen
    gm.graph = made
    return gm
