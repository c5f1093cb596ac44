"""Replacing what looks like one graph by another: `replace_pattern`.

Source of the semantics: `torch/fx/subgraph_rewriter.py` and
`torch/fx/passes/utils/matcher_utils.py`.
"""

import copy
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dispatch import OpOverload, Tensor
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.tracer import symbolic_trace
from dispatch.as_torch.nn.modules.module import Module
from dispatch.pytree import tree_flatten, tree_unflatten

__all__ = [
    "InternalMatch",
    "Match",
    "ReplacedPatterns",
    "SubgraphMatcher",
    "SubgraphMatcherWithNameNodeMap",
    "replace_pattern",
    "replace_pattern_with_filters",
]

_ENDS = ("placeholder", "output")


class Match(NamedTuple):
    """Where a pattern was: the node of its last value, and the nodes for the pattern's."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A `Match`, and the nodes that are there instead."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


@dataclass
class InternalMatch:
    """Nodes of a graph for those of a pattern.

    `anchors` are the pattern's last values; inputs may stand for numbers too.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def _copied(self) -> "InternalMatch":
        return InternalMatch(self.anchors, dict(self.nodes_map))

    def _calls(self) -> list[Node]:
        return [found for node, found in self.nodes_map.items() if node.op not in _ENDS]


class SubgraphMatcher:
    """Finds where a graph does what a pattern does.

    Args:
        pattern: a graph without dead nodes; its inputs stand for anything.
        match_output: the pattern's output is the graph's.
        match_placeholder: its inputs stand for inputs only.
        remove_overlapping_matches: no node is in two matches.
        ignore_literals: numbers need not be equal.

    Raises:
        ValueError: an empty pattern; AssertionError: one with dead nodes.
    """

    def __init__(
        self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
        remove_overlapping_matches: bool = True, ignore_literals: bool = False,
    ) -> None:  # fmt: skip
        if not len(pattern.nodes):
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        if any(n.op != "output" and not n.users and not n.is_impure() for n in pattern.nodes):
            raise AssertionError("SubgraphMatcher: the pattern has nodes that nobody uses")
        self.pattern = pattern
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        self.pattern_placeholder_nodes = pattern.find_nodes(op="placeholder")
        output = pattern.output_node()
        self.pattern_returning_nodes = output.all_input_nodes
        only = [node for node in self.pattern_returning_nodes if len(node.users) == 1]
        self.pattern_anchors = [output] if match_output else only

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All places; nodes whose name has `node_name_match` in it stand for any anchor."""
        candidates = [
            (anchor, [n for n in graph.nodes if self._are_alike(anchor, n, node_name_match)])
            for anchor in self.pattern_anchors
        ]
        candidates = [row for row in candidates if row[1]]
        found: list[InternalMatch] = []
        if candidates:
            self._search(candidates, InternalMatch(self.pattern_anchors), node_name_match, found)
        found = [m for m in found if self._is_closed(m) and validate_partition(m._calls())]
        return _apart(found) if self.remove_overlapping_matches else found

    def _search(
        self, candidates: list[Any], match: InternalMatch, name: str, found: list[InternalMatch]
    ) -> None:
        """Match the first anchor in each way, and the others then."""
        if not candidates:
            inputs, results = self.pattern_placeholder_nodes, self.pattern_returning_nodes
            match.placeholder_nodes = [match.nodes_map[node] for node in inputs]
            match.returning_nodes = [match.nodes_map[node] for node in results]
            found.append(match)
            return
        (anchor, nodes), *rest = candidates
        for node in nodes:
            tried = match._copied()
            if self._fits(anchor, node, tried, name):
                self._search(rest, tried, name, found)

    def _are_alike(self, wanted: Node, node: Node, name: str = "") -> bool:
        if wanted.op == "placeholder" and not self.match_placeholder:
            return True
        if name and name in node.name:
            return True
        if wanted.op != node.op:
            return False
        if wanted.op == "get_attr":
            return _same_kind(wanted, node)
        return wanted.op in _ENDS or bool(wanted.target == node.target)

    def _fits(self, wanted: Node, node: Node, match: InternalMatch, name: str = "") -> bool:
        """Whether a node, and all that it takes, does what the pattern's node does."""
        if wanted in match.nodes_map:
            return match.nodes_map[wanted] is node
        taken = any(node is other for other in match.nodes_map.values())
        if taken or not self._are_alike(wanted, node, name):
            return False
        match.nodes_map[wanted] = node
        if wanted.op == "placeholder":
            return True
        given = _arguments(wanted, node)
        return given is not None and self._all_fit(*given, match)

    def _all_fit(self, wanted: Any, given: Any, match: InternalMatch) -> bool:
        if len(wanted) != len(given):
            return False
        for one, other in zip(wanted, given, strict=True):
            if isinstance(one, Node) and isinstance(other, Node):
                fits = self._fits(one, other, match)
            elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
                fits = self._all_fit(one, other, match)
            else:
                fits = _literal_fits(one, other, match) or self.ignore_literals
            if not fits:
                return False
        return True

    def _is_closed(self, match: InternalMatch) -> bool:
        """Whether nobody outside uses what goes."""
        inside = {n for p, n in match.nodes_map.items() if p.op != "placeholder"}
        given = {match.nodes_map[p] for p in self.pattern_returning_nodes}
        return all(user in inside for node in inside - given for user in node.users)


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """A pattern that returns a dictionary of its nodes last: matches name theirs alike.

    Args: pattern_gm, a module whose outputs are a tuple, the dictionary behind the others, which
    loses it; the rest as of `SubgraphMatcher`.
    """

    def __init__(self, pattern_gm: GraphModule, *options: bool, **named: bool) -> None:
        output = pattern_gm.graph.output_node()
        held = tree_unflatten(output.args[0], pattern_gm._out_spec)
        if not isinstance(held, tuple) or len(held) < 2 or not isinstance(held[-1], dict):
            raise AssertionError("a pattern with names returns a tuple, a dictionary at its end")
        *others, self.name_node_map = held
        flat, spec = tree_flatten(others)
        output.args = (flat,)
        codegen: Any = pattern_gm.graph._codegen
        codegen.pytree_info = codegen.pytree_info._replace(out_spec=spec)
        pattern_gm.recompile()
        super().__init__(pattern_gm.graph, *options, **named)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All places, each with `name_node_map`."""
        found = super().match(graph, node_name_match)
        for one in found:
            one.name_node_map |= {k: one.nodes_map[n] for k, n in self.name_node_map.items()}
        return found


def _same_kind(wanted: Node, node: Node) -> bool:
    """Whether two attributes are tensors of one class."""
    values = [_attribute(n.graph.owning_module, n.target) for n in (wanted, node)]
    if type(values[0]) is not type(values[1]):
        return False
    if not isinstance(values[0], Tensor):
        raise RuntimeError(f"Unsupported type {values[0]} when matching attributes")
    return True


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def _arguments(wanted: Node, node: Node) -> tuple[list[Any], list[Any]] | None:
    """The arguments of both in one order; those of operators with defaults, if they differ."""
    alike = len(wanted.args) == len(node.args) and list(wanted.kwargs) == list(node.kwargs)
    if alike:
        both = [[*n.args, *n.kwargs.values()] for n in (wanted, node)]
    elif wanted.op == "call_function" and isinstance(wanted.target, OpOverload):
        both = [_whole(n, wanted.target) for n in (wanted, node)]
    else:
        return None
    return both[0], both[1]


def _whole(node: Node, op: OpOverload) -> list[Any]:
    found = []
    for i, argument in enumerate(op._schema.arguments):
        if argument.name in node.kwargs:
            found.append(node.kwargs[argument.name])
        elif not argument.kwarg_only and i < len(node.args):
            found.append(node.args[i])
        else:
            found.append(argument.default_value)
    return found


def _literal_fits(wanted: Any, given: Any, match: InternalMatch) -> bool:
    """Whether a number is what the pattern has, or what its input is at other places."""
    if isinstance(wanted, Node) and wanted.op == "placeholder":
        return bool(match.nodes_map.setdefault(wanted, given) == given)
    if isinstance(wanted, Node) or isinstance(given, Node):
        return False
    return type(wanted) is type(given) and bool(wanted == given)


def validate_partition(partition: Collection[Node]) -> bool:
    """Whether these nodes can run at once: no path leaves them and comes back."""
    inside = set(partition)
    outside = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while outside:
        node = outside.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            outside += node.users
    return True


def _apart(matches: list[InternalMatch]) -> list[InternalMatch]:
    """Those that share no node with one before."""
    taken: set[Node] = set()
    found = []
    for match in matches:
        calls = match._calls()
        if taken.isdisjoint(calls):
            found.append(match)
            taken.update(calls)
    return found


# ---- replacing


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace each place of a graph that does what `pattern` does; the module is recompiled.

    Args:
        gm: the module to change.
        pattern, replacement: functions, which are traced, or graph modules, with as many inputs
            and results as each other.

    Returns: what was replaced.
    """
    done = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(one.anchor, one.nodes_map) for one in done]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Any, replacement: Any = None,
    match_filters: Iterable[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:  # fmt: skip
    """`replace_pattern` of the matches that all filters take.

    Args:
        match_filters: called with a match, the graph and the pattern; False leaves it.
        ignore_literals: numbers of the pattern need not be equal.
        replacement_callback: gives the graph to put there, for each match.
        node_name_match: nodes whose name has this in it stand for any last node of the pattern.
    """
    wanted = _graph_of(pattern)
    matcher = SubgraphMatcher(wanted, ignore_literals=ignore_literals)
    matches = matcher.match(gm.graph, node_name_match)
    filters = list(match_filters or ())
    matches = [m for m in matches if all(takes(m, gm.graph, wanted) for takes in filters)]
    common = None if replacement is None else _graph_of(replacement)
    changed: dict[Any, Node] = {}
    done = []
    for match in matches:
        graph = common
        if replacement_callback is not None:
            graph = replacement_callback(match, gm.graph, wanted)
        if graph is None:
            raise AssertionError("replace_pattern: neither a replacement nor a callback is given")
        done.append(_replaced(gm.graph, wanted, match, graph, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return done


def _graph_of(program: Any) -> Graph:
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else symbolic_trace(program).graph


def _replaced(
    graph: Graph, pattern: Graph, match: InternalMatch, replacement: Graph, changed: dict[Any, Node]
) -> ReplacedPatterns:
    """Put a copy of `replacement` where `match` is, and take the matched nodes out."""
    inputs = replacement.find_nodes(op="placeholder")
    if len(inputs) != len(match.placeholder_nodes):
        counts = f"{len(match.placeholder_nodes)} vs {len(inputs)}"
        raise AssertionError(f"replace_pattern: the numbers of inputs differ: {counts}")
    for node, found in match.nodes_map.items():  # an earlier match may have replaced it
        if isinstance(found, Node) and found in changed and node.op == "placeholder":
            match.nodes_map[node] = changed[found]
    given = match.placeholder_nodes
    given[:] = [changed.get(n, n) if isinstance(n, Node) else n for n in given]
    copies: dict[Node, Any] = dict(zip(inputs, given, strict=True))
    with graph.inserting_before(_place_after(graph, match.returning_nodes)):
        results = graph.graph_copy(replacement, copies)
    results = results if isinstance(results, list | tuple) else (results,)
    if len(results) != len(match.returning_nodes):
        counts = f"{len(match.returning_nodes)} vs {len(results)}"
        raise AssertionError(f"replace_pattern: the numbers of results differ: {counts}")
    for old, new in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(new)
        changed[old] = new
    for node in reversed(pattern.nodes):
        if node.op not in _ENDS:
            graph.erase_node(match.nodes_map[node])
    made = [n for n in copies.values() if not any(n is one for one in given)]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _place_after(graph: Graph, results: list[Node]) -> Node:
    """The first node that uses one of them, or the one after the last of them."""
    users = [user for node in results for user in node.users]
    return min(users) if users else max(results).next


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Drop modules that nobody uses now, and copy what new nodes name.

    Raises:
        RuntimeError: neither module has it.
    """
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _attribute(gm, node.target) is not None:
            continue
        value = _attribute(replacement, node.target)
        if value is None:
            problem = "which neither the module nor the replacement has"
            raise RuntimeError(f"a replacement names {node.target!r}, {problem}")
        value = copy.deepcopy(value)
        if isinstance(value, Module):
            gm.add_submodule(node.target, value)
        else:
            setattr(gm, node.target, value)
    gm.graph.lint()
