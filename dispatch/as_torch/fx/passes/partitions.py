"""The largest parts of a graph that a backend can run (torch.fx.passes.infra.partitioner).

From the end of the graph each node that is taken begins a part, and all parts that there are then
become one with the first, unless a path would leave it and come back.
"""

import operator
from collections.abc import Iterable, Sequence

from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.names import qualified_name
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.passes.fusing import fuse_by_partitions
from dispatch.as_torch.fx.passes.support import OperatorSupportBase

__all__ = ["CapabilityBasedPartitioner", "Partition"]

_NO_COMPUTE = frozenset(("torch.ops.aten.view", "_operator.getitem"))


class Partition:
    """Some nodes of a graph, with their places in it if somebody said them."""

    def __init__(
        self, id: int | None = None, nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:  # fmt: skip
        self.id = id
        given = list(nodes or ())
        places = [None] * len(given) if node_orders is None else list(node_orders)
        if len(places) != len(given):
            raise AssertionError("nodes and node_orders must have the same length")
        self.nodes: dict[Node, int | None] = dict(zip(given, places, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Have this node too."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Have it no more."""
        del self.nodes[node]

    def size(self) -> int:
        """How many there are."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Finds the parts that a backend takes, and makes modules of them.

    Args:
        graph_module: what is partitioned.
        operator_support: which nodes are taken.
        allows_single_node_partition: parts with one call that computes stay, too.
        non_compute_ops: names of functions that do not count as computing, as views do not.
        allowed_single_node_partition_ops: names of functions that may be alone.
        skip_horizontal_fusion: only parts that a node gives to become one.
    """

    def __init__(
        self, graph_module: GraphModule, operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False, non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:  # fmt: skip
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = list(non_compute_ops or ())
        self.allowed_single_node_partition_ops = list(allowed_single_node_partition_ops or ())
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def propose_partitions(self) -> list[Partition]:
        """The parts; in each the nodes are in the order of the graph."""
        growing = _Growing(self.graph_module)
        modules = dict(self.graph_module.named_modules())
        for place, node in enumerate(reversed(self.graph_module.graph.nodes)):
            candidates: list[int] = []
            if self.operator_support.is_node_supported(modules, node):
                candidates = [growing.begin(node, place)]
                if self.skip_horizontal_fusion:
                    users = (growing.part_of[u] for u in node.users if u in growing.part_of)
                    candidates = list(dict.fromkeys((*candidates, *users)))
            if not self.skip_horizontal_fusion:
                ordered = sorted(growing.order.items(), key=operator.itemgetter(1))
                candidates = list(dict.fromkeys((*candidates, *(key for key, _ in ordered))))
            if candidates:
                first, *others = candidates
                for other in others:
                    first = growing.merge(first, other)
        growing.sort()
        growing.keep_results_together()
        parts = growing.parts
        if not self.allows_single_node_partition:
            parts = {key: part for key, part in parts.items() if self._computes(part)}
        return [part for part in parts.values() if part.size() > 0]

    def _computes(self, part: Partition) -> bool:
        count = 0
        for node in part.nodes:
            if node.op == "call_function":
                name = qualified_name(node.target).replace("dispatch.", "torch.", 1)
                count += name not in _NO_COMPUTE and name not in self.non_compute_ops
                count += name in self.allowed_single_node_partition_ops
        return count > 1

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Make a module of each part, in place."""
        return fuse_by_partitions(self.graph_module, [p.nodes for p in partitions], prefix=prefix)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """`fuse_partitions` of the parts that are proposed."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Take nodes that do not compute out of the beginnings and ends of parts."""
        for part in partitions:
            gone = {node for node in part.nodes if self._is_at_an_end(node, part)}
            part.nodes = {node: place for node, place in part.nodes.items() if node not in gone}

    def _is_at_an_end(self, node: Node, part: Partition) -> bool:
        return any(
            self._only_passes(node, part, follow)
            for follow in (lambda n: n.all_input_nodes, lambda n: list(n.users))
        )

    def _only_passes(self, node: Node, part: Partition, follow: object) -> bool:
        """Whether nothing computes from this node on, until the part ends."""
        waiting, seen = [node], {node}
        while waiting:
            one = waiting.pop()
            if one.op == "placeholder" or one not in part.nodes:
                continue
            if one.op != "call_function" or qualified_name(one.target) not in self.non_compute_ops:
                return False
            new = [n for n in follow(one) if n not in seen]  # type: ignore[operator]
            seen.update(new)
            waiting += new
        return True


def _is_item(node: Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem


class _Growing:
    """Parts while they grow."""

    def __init__(self, module: GraphModule) -> None:
        self.graph = module.graph
        self.parts: dict[int, Partition] = {}
        self.order: dict[int, int] = {}
        self.part_of: dict[Node, int] = {}
        self.after: dict[Node, set[Node]] = {}
        for node in reversed(self.graph.nodes):
            found = set(node.users)
            for user in node.users:
                found |= self.after[user]
            self.after[node] = found

    def begin(self, node: Node, place: int) -> int:
        key = len(self.part_of)
        self.parts[key] = Partition(key, [node], [place])
        self.part_of[node] = self.order[key] = key
        return key

    def merge(self, one: int, other: int) -> int:
        """Make one part of two if they can run at once; the number of the result, else `one`."""
        both = self.parts[one].nodes | self.parts[other].nodes
        if self._comes_back(both.keys(), {one, other}):
            return one
        big, small = one, other
        if len(self.parts[one].nodes) < len(self.parts[other].nodes):
            big, small = other, one
        self.parts[big].nodes.update(self.parts[small].nodes)
        self.part_of.update(dict.fromkeys(self.parts[small].nodes, big))
        self.order[big] = min(self.order[big], self.order.pop(small))
        del self.parts[small]
        return big

    def _comes_back(self, nodes: Iterable[Node], keys: set[int]) -> bool:
        """Whether a path leaves these nodes and comes back, through other parts as one node."""
        inside = set(nodes)
        waiting = [user for node in inside for user in node.users if user not in inside]
        seen: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node in inside:
                return True
            if node in seen:
                continue
            key = self.part_of.get(node)
            together = [node] if key is None or key in keys else list(self.parts[key].nodes)
            seen.update(together)
            waiting += [user for one in together for user in one.users]
        return False

    def sort(self) -> None:
        for part in self.parts.values():
            ordered = sorted(part.nodes.items(), key=operator.itemgetter(1), reverse=True)
            part.nodes = dict(ordered)

    def keep_results_together(self) -> None:
        """Items of a node's result are in its part, or in none if it is in none."""
        changed = True
        while changed:
            changed = False
            for node in self.graph.nodes:
                if not all(_is_item(user) for user in node.users):
                    continue
                key = self.part_of.get(node)
                for user in node.users:
                    if self.part_of.get(user) != key:
                        self._move(user, key)
                        changed = True

    def _move(self, node: Node, key: int | None) -> None:
        if node in self.part_of:
            self.parts[self.part_of.pop(node)].remove_node(node)
        if key is not None:
            self.part_of[node] = key
            self.parts[key].add_node(node)
