"""What a graph computes without its inputs, computed once (torch.fx.experimental.const_fold).

Source of the semantics: `torch/fx/experimental/const_fold.py`.
"""

import operator
import re
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_arg
from dispatch.as_torch.fx.passes.splits import split_module
from dispatch.as_torch.fx.tracer import symbolic_trace
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.modules.parameters import ParameterList
from dispatch.as_torch.nn.parameter import Parameter

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module that computes its constants when it is first called.

    Args:
        root, graph: as of a `GraphModule`.
        const_subgraph: computes the constants; None: there are none.
        fx_const_folded_attrs_name: the attribute that keeps them.
        device_for_folded_attrs: where numbers go.
    """

    def __init__(
        self, root: Module, graph: Graph, const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None, device_for_folded_attrs: str = "cuda",
    ) -> None:  # fmt: skip
        super().__init__(root, graph)
        folds = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.const_subgraph_module = folds
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the constants; they are parameters then."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        found = self.const_subgraph_module()
        many = isinstance(found, tuple)
        kept = ParameterList([self._kept(v) for v in found]) if many else self._kept(found)
        setattr(self, self.fx_const_folded_attrs_name, kept)

    def _kept(self, value: Any) -> Parameter:
        if isinstance(value, int):
            made = dispatch.tensor([float(value)], device=self.device_for_folded_attrs)
            return Parameter(made, requires_grad=False)
        return Parameter(value.detach().clone(), requires_grad=value.requires_grad)


def get_unique_attr_name_in_module(mod_traced: Module, name: str) -> str:
    """A name like this one that the module has no attribute of."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    name = f"_{name}" if name[0].isdigit() else name
    while hasattr(mod_traced, name):
        found = re.fullmatch(r"(.*)_(\d+)", name)
        name = f"{found.group(1)}_{int(found.group(2)) + 1}" if found else f"{name}_1"
    return name


def split_const_subgraphs(
    module: Module, skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:  # fmt: skip
    """A module like `module` that computes its constants once.

    Args:
        module: traced first unless it has a graph.
        skip_folding_node_fn: nodes that are no constants, whatever they take.
        device_for_folded_attrs: where numbers among the constants go.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constants = _constants(traced, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constants):
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: int(node not in constants))
    for part in (getattr(split, "submod_1", None), split.submod_0):
        for node in part.graph.find_nodes(op="call_module") if part is not None else ():
            setattr(split, node.target, getattr(part, node.target))
    (call,) = split.graph.find_nodes(op="call_module", target="submod_0")
    folding = GraphModule(split, split.submod_0.graph)
    _read_inputs(folding.graph, call)
    many = isinstance(folding.graph.output_node().args[0], tuple)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    setattr(split, name, ParameterList() if many else Parameter())
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if hasattr(split, "submod_1"):
        _inline_module(split, "submod_1")
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, folding.graph, name, device_for_folded_attrs)


def _constants(traced: GraphModule, skips: Callable[[Node], bool] | None) -> set[Node]:
    """The nodes whose values the module has without its inputs."""
    found: set[Node] = set()
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not found.issuperset(node.all_input_nodes):
            continue
        if (skips is not None and skips(node)) or node.is_impure():
            continue
        if node.op == "call_module" and _does_more(traced.get_submodule(node.target)):
            continue
        found.add(node)
    return found


def _does_more(module: Module) -> bool:
    """Whether a graph module has calls that do more than compute."""
    if not isinstance(module, GraphModule):
        return False
    return any(
        node.is_impure()
        if node.op == "call_function"
        else node.op == "call_module" and _does_more(module.get_submodule(node.target))
        for node in module.graph.nodes
    )


def _read_inputs(graph: Graph, call: Node) -> None:
    """Let a part read the attributes that the call gives it as inputs."""
    for node, given in zip(graph.find_nodes(op="placeholder"), call.args, strict=True):
        with graph.inserting_before(node):
            made = graph.create_node("get_attr", given.target)
        made.meta = node.meta.copy()
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def _inline_module(
    gm: GraphModule, inline_mod_name: str, run_dce: bool = True
) -> dict[Node, Any]:
    """Put the nodes of a graph module where `gm` calls it.

    Returns: what stands in `gm` for each node of it.
    """
    inner = dict(gm.named_modules())[inline_mod_name]
    if not isinstance(inner, GraphModule):
        raise AssertionError(f"Expected GraphModule, got {type(inner)}")
    call = next(iter(gm.graph.find_nodes(op="call_module", target=inline_mod_name)), None)
    if call is None:
        raise AssertionError(f"Could not find call_module node for {inline_mod_name}")
    copies: dict[Node, Any] = {}

    def copied(node: Node) -> Any:
        copies[node].meta = node.meta.copy()
        return copies[node]

    given = iter(call.args)
    for node in inner.graph.nodes:
        if node.op == "placeholder":
            copies[node] = call.kwargs[node.name] if node.name in call.kwargs else next(given)
        elif node.op == "output":
            _use_results(gm.graph, call, map_arg(node.args[0], copied), copies)
        else:
            with gm.graph.inserting_before(call):
                copies[node] = gm.graph.node_copy(node, copied)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return copies


def _use_results(graph: Graph, call: Node, results: Any, copies: dict[Node, Any]) -> None:
    """Let those that use a call, or an item of it, use these nodes."""
    if not isinstance(results, list | tuple):
        call.replace_all_uses_with(results)
        return
    for user in list(call.users):
        if user.target is operator.getitem and isinstance(user.args[1], int):
            copies[user] = results[user.args[1]]
            user.replace_all_uses_with(copies[user])
            graph.erase_node(user)
    for user in list(call.users):
        swapped = map_arg((user.args, user.kwargs), lambda n: results if n is call else n)
        user.args, user.kwargs = swapped
