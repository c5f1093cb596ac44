"""`split_module`: a module of submodules, one for each number that a callback gives to nodes.

Source of the semantics: `torch/fx/passes/split_module.py`.
"""

import inspect
from collections.abc import Callable
from typing import Any

from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_arg
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.nn.modules.module import Module

__all__ = ["Partition", "split_module"]


class Partition:
    """One part: its nodes, what it takes and gives (by name), and the parts around it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n"
            f" outputs: {self.outputs},\n partitions depended on: {self.dependencies},\n"
            f" partition dependents: {self.dependents}"
        )


def split_module(
    m: GraphModule, root_m: Module, split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None, keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False, keep_original_input_name: bool = True, *,
    partition_affix: str | None = None, tuple_return: bool = False,
) -> GraphModule:  # fmt: skip
    """A module that calls one submodule for each part of `m`.

    Args:
        m: what is split.
        root_m: not needed; the module that `m` was traced from.
        split_callback: the part of a node, for calls.
        qualname_map: gets the name in `m` of each attribute of the parts.
        keep_original_order: parts are called in the order of their first nodes.
        keep_original_node_name: nodes keep their names.
        keep_original_input_name: inputs of parts are named after what they get, else `arg_0` ...
        partition_affix: stands in the names of the parts.
        tuple_return: parts with one result give a tuple too.

    Raises:
        RuntimeError: two parts need each other.
    """
    parts, place = _assigned(m.graph, split_callback, partition_affix)
    _note_uses(m.graph, parts, place)
    first = list(parts)
    order = _ordered(parts)
    nodes = {node.name: node for node in m.graph.nodes}
    for name in order:
        _take_inputs(m, parts[name], nodes, keep_original_input_name)
    for node in m.graph.nodes:
        if node in place:
            _copy_into(m, parts[place[node]], node, keep_original_node_name, qualname_map)
    outer = _Outer(m, keep_original_node_name)
    if not keep_original_order:
        outer.take(m.graph.nodes)
    for name in first if keep_original_order else order:
        if keep_original_order:
            outer.take(node for node in m.graph.nodes if node.op == "placeholder")
            outer.take(nodes[key] for key in parts[name].inputs)
        outer.call(parts[name], nodes, tuple_return)
    if not outer.env:
        outer.take(m.graph.nodes)
    result = outer.env.__getitem__
    for node in m.graph.find_nodes(op="output"):
        outer.graph.output(map_arg(node.args[0], lambda n: result(n.name)))
    made = GraphModule(outer.attributes, outer.graph)
    made.meta["partition_names"] = {part.submod_name for part in parts.values()}
    return made


def _assigned(
    graph: Graph, split_callback: Callable[[Node], Any], affix: str | None
) -> tuple[dict[str, Partition], dict[Node, str]]:
    """The parts in the order of their first nodes, and where each call is."""
    parts: dict[str, Partition] = {}
    place: dict[Node, str] = {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        name = str(split_callback(node))
        if affix is not None:
            name = f"{affix}_{name}"
        parts.setdefault(name, Partition(name)).node_names.append(node.name)
        place[node] = name
    return parts, place


def _note_uses(graph: Graph, parts: dict[str, Partition], place: dict[Node, str]) -> None:
    """Say of each part what it takes from others and gives to them."""

    def note(given: Node, user: Node) -> None:
        source, goal = place.get(given), place.get(user)
        if source == goal:
            return
        if source is not None:
            parts[source].outputs.setdefault(given.name)
        if goal is not None:
            parts[goal].inputs.setdefault(given.name)
        if source is not None and goal is not None:
            parts[source].dependents.setdefault(goal)
            parts[goal].dependencies.setdefault(source)

    for node in graph.nodes:
        if node.op not in ("placeholder", "get_attr"):
            for given in node._input_nodes:
                note(given, node)


def _ordered(parts: dict[str, Partition]) -> list[str]:
    """The parts so that each comes after those that it needs; the last one that can goes first."""
    ready = [name for name, part in parts.items() if not part.dependencies]
    found = []
    while ready:
        name = ready.pop()
        found.append(name)
        for dependent in parts[name].dependents:
            parts[dependent].dependencies.pop(name)
            if not parts[dependent].dependencies:
                ready.append(dependent)
    if len(found) != len(parts):
        raise RuntimeError("cycle exists between partitions!")
    return found


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        if not hasattr(module, part):
            raise AttributeError(f"Node target {path} not found!")
        module = getattr(module, part)
    return module


def _take_inputs(
    m: GraphModule, part: Partition, nodes: dict[str, Node], keep_name: bool
) -> None:
    """Inputs for what other parts give; modules that nodes name come along as attributes."""
    values = {
        name: _attribute(m, nodes[name].target)
        for name in part.inputs
        if nodes[name].op == "get_attr"
    }
    modules = [name for name in part.inputs if isinstance(values.get(name), Module)]
    inputs = [name for name in part.inputs if name not in modules]
    for i, name in enumerate(inputs):
        shown = name if keep_name else f"arg_{i}"
        part.environment[nodes[name]] = part.graph.placeholder(shown, nodes[name].type)
    for name in modules:
        target = nodes[name].target
        part.environment[nodes[name]] = part.graph.get_attr(target)
        part.targets[target] = values[name]
    for name in part.inputs:
        part.environment[nodes[name]].meta = nodes[name].meta.copy()
    part.inputs = dict.fromkeys(inputs)


def _copy_into(
    m: GraphModule, part: Partition, node: Node, keep_name: bool | None,
    qualname_map: dict[str, str] | None,
) -> None:  # fmt: skip
    args, kwargs = map_arg((node.args, node.kwargs), part.environment.__getitem__)
    target = node.target
    if node.op == "call_module":
        target = node.target.replace(".", "_")
        part.targets[target] = _attribute(m, node.target)
        if qualname_map is not None:
            qualname_map[f"{part.submod_name}.{target}"] = node.target
    name = node.name if keep_name else None
    made = part.graph.create_node(node.op, target, args, kwargs, name, node.type)
    made.meta = node.meta.copy()
    part.environment[node] = made


class _Outer:
    """The graph that calls the parts."""

    def __init__(self, m: GraphModule, keep_name: bool | None) -> None:
        self.module, self.keep_name = m, keep_name
        self.graph = Graph()
        self.env: dict[str, Node] = {}
        self.attributes: dict[str, Any] = {}

    def take(self, nodes: Any) -> None:
        """Have the inputs and attributes among these nodes, each once."""
        for node in nodes:
            if node.op not in ("placeholder", "get_attr") or node.name in self.env:
                continue
            if node.op == "get_attr":
                made = self.graph.get_attr(node.target)
                self.attributes[node.target] = _attribute(self.module, node.target)
            else:
                name = node.name if self.keep_name else node.target
                default = node.args[0] if node.args else inspect.Signature.empty
                made = self.graph.placeholder(name, node.type, default)
            made.meta = node.meta.copy()
            self.env[node.name] = made

    def call(self, part: Partition, nodes: dict[str, Node], tuple_return: bool) -> None:
        """Close the graph of a part, and call it."""
        results = tuple(part.environment[nodes[name]] for name in part.outputs)
        single = len(results) == 1 and not tuple_return
        part.graph.output(results[0] if single else results)
        self.attributes[part.submod_name] = GraphModule(part.targets, part.graph)
        called = self.graph.call_module(
            part.submod_name, tuple(self.env[name] for name in part.inputs)
        )
        whole: Any = Proxy(called)
        for i, name in enumerate(part.outputs):
            self.env[name] = called if single else whole[i].node
