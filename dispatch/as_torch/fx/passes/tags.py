"""Parts of a graph as modules, and `split_by_tags`, whose parts nodes name in `node.tag`.

Source of the semantics: `torch/fx/passes/split_utils.py` and `torch/fx/passes/utils/common.py`.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_arg
from dispatch.as_torch.fx.patterns import SubgraphMatcher
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.nn.modules.containers import ModuleList
from dispatch.as_torch.nn.modules.module import Module

__all__ = [
    "Component", "HolderModule", "compare_graphs", "getattr_recursive", "lift_subgraph_as_module",
    "setattr_recursive", "split_by_tags",
]  # fmt: skip


class HolderModule(Module):
    """A module of the modules in a dict, without a `forward`."""

    def __init__(self, d: dict[str, Module | None]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """A module of a graph whose nodes name attributes of `gm`.

    Returns: the module, and for each attribute its name below `comp_name`.
    """
    root = HolderModule({})
    names: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        *path, last = node.target.split(".")
        place, source = root, gm
        for part in path:
            if not hasattr(place, part):
                place.add_module(part, HolderModule({}))
            place, source = getattr(place, part), getattr(source, part)
        names[node.target] = f"{comp_name}.{node.target}"
        setattr(place, last, getattr(source, last))
    return GraphModule(root, subgraph, class_name), names


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether they do the same with as many inputs, whatever nodes are called."""
    return bool(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right))


def getattr_recursive(obj: Any, name: str) -> Any:
    """The attribute at a path; None where there is none."""
    for part in name.split("."):
        if isinstance(obj, ModuleList):
            if part not in obj._modules:
                return None
            obj = obj._modules[part]
        elif hasattr(obj, part):
            obj = getattr(obj, part)
        else:
            return None
    return obj


def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Set the attribute at a path."""
    *path, last = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, last, value)


@dataclass
class Component:
    """One part: its graph, its place in the order, and what goes in and out."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule, tags: list[str], return_fqn_mapping: bool = False, return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,
) -> Any:  # fmt: skip
    """A module of one submodule for each tag.

    Args:
        gm: its calls have one of the tags as `node.tag`.
        tags: in the order in which the parts are to run.
        return_fqn_mapping: give a dict of where attributes are, too.
        return_tuple: parts with one result give a tuple.
        GraphModuleCls: the class of the result.

    Raises:
        AssertionError: a call without a tag, or one that needs a part that runs later.
    """
    split = _Split(gm, tags)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            made = split.graph.placeholder(node.name, type_expr=node.type)
            made.meta = copy.copy(node.meta)
            split.outer[node] = made
        elif node.op not in ("get_attr", "output"):
            split.copy_call(node)
    results = split.close(gm.graph.output_node())
    names: dict[str, str] = {}
    for part in split.parts.values():
        names.update(split.call(part, return_tuple))
    split.graph.output(map_arg(gm.graph.output_node().args[0], split.outer.__getitem__))
    root = HolderModule({part.name: part.gm for part in split.parts.values()})
    split.graph._codegen = gm.graph._codegen
    for node in results:
        setattr(root, node.name, getattr_recursive(gm, node.target))
    whole = GraphModuleCls(root, split.graph)
    return (whole, names) if return_fqn_mapping else whole


class _Split:
    """The parts while they are made, and the graph that calls them."""

    def __init__(self, gm: GraphModule, tags: list[str]) -> None:
        self.module, self.graph = gm, Graph()
        self.parts = {tag: Component(Graph(), i, f"{tag}") for i, tag in enumerate(tags)}
        self.part_of: dict[Node, Component] = {}
        self.copies: dict[Node, Node] = {}
        self.outer: dict[Node, Node] = {}
        self.wanted: dict[Node, None] = {}

    def copy_call(self, node: Node) -> None:
        """Put a call into its part."""
        if not hasattr(node, "tag"):
            raise AssertionError(f"Node does not have tag: {node.format_node()}")
        part = self.parts[node.tag]
        self.part_of[node] = part
        before = [self.part_of[n].order for n in node.all_input_nodes if n in self.part_of]
        if part.order < max(before, default=0):
            problem = f"order must be >= max of its upstream components, order={part.order}"
            raise AssertionError(f"Component {part.name} {problem} and max={max(before)}")
        made = part.graph.node_copy(node, lambda given: self._inside(part, given))
        made.tag = node.tag  # type: ignore[attr-defined]
        self.copies[node] = made

    def _inside(self, part: Component, given: Node) -> Node:
        """What stands for a node within a part: its copy, an attribute, or an input."""
        if given.op == "get_attr":
            if given not in part.getattr_maps:
                made = part.graph.get_attr(given.target, type_expr=given.type)
                made.meta = copy.copy(given.meta)
                part.getattr_maps[given] = made
            return part.getattr_maps[given]
        if self.part_of.get(given) is part:
            return self.copies[given]
        if given not in part.orig_inputs:
            part.orig_inputs.append(given)
            made = part.graph.placeholder(given.name, type_expr=given.type)
            made.meta = copy.copy(given.meta)
            part.input_placeholders.append(made)
            self.wanted[given] = None
        return part.input_placeholders[part.orig_inputs.index(given)]

    def close(self, output: Node) -> list[Node]:
        """Note what parts give; returns the attributes among the results."""
        attributes = []
        for node in output.all_input_nodes:
            if node.op == "get_attr":
                self.outer[node] = self.graph.get_attr(node.name, type_expr=node.type)
                attributes.append(node)
            else:
                self.wanted[node] = None
        for node in self.wanted:
            if node.op != "placeholder":
                self.part_of[node].orig_outputs.append(node)
        return attributes

    def call(self, part: Component, return_tuple: bool) -> dict[str, str]:
        """Make the module of a part, and call it."""
        results = tuple(self.copies[node] for node in part.orig_outputs)
        single = len(results) == 1 and not return_tuple
        part.graph.output(results[0] if single else results)
        part.gm, names = lift_subgraph_as_module(self.module, part.graph, part.name)
        called = self.graph.call_module(part.name, tuple(self.outer[n] for n in part.orig_inputs))
        whole: Any = Proxy(called)
        for i, node in enumerate(part.orig_outputs):
            self.outer[node] = called if single else whole[i].node
        return names
