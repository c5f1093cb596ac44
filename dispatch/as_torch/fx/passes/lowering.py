"""What a backend wants of modules: `param_fetch`, types of what calls give, merged products.

Source of the semantics: `torch/fx/passes/param_fetch.py`,
`torch/fx/experimental/schema_type_annotation.py` and `torch/fx/experimental/merge_matmul.py`.
"""

import inspect
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import dispatch
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.interpreter import Transformer
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.passes.order import legalize_graph
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.fx.tracer import symbolic_trace
from dispatch.as_torch.nn import functional, modules

__all__ = [
    "AnnotateTypesWithSchema", "are_nodes_independent", "default_matching",
    "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes", "may_depend_on", "merge_matmul",
    "module_fetch_book", "split_result_tensors",
]  # fmt: skip


def default_matching(name: str, target_version: int) -> str:
    """The name: versions have the same ones."""
    return name


_CONV = "weight bias kernel_size stride padding dilation groups padding_mode"
_NORM = "weight bias running_mean running_var eps"
_POOL = "kernel_size stride padding dilation return_indices ceil_mode"
# The version of a class of modules, its attributes, how other versions call them.
module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    modules.Linear: (1, ["weight", "bias"], default_matching),
    modules.Conv2d: (1, _CONV.split(), default_matching),
    modules.BatchNorm2d: (2, _NORM.split(), default_matching),
    modules.AdaptiveAvgPool2d: (1, [], default_matching),
    modules.MaxPool2d: (1, _POOL.split(), default_matching),
    modules.ReLU: (1, ["inplace"], default_matching),
}


def extract_attrs_for_lowering(mod: Any) -> dict[str, Any]:
    """The attributes of a module of `module_fetch_book`, and its class's name.

    Raises: RuntimeError for a class, or a version of it, that is not in the book.
    """
    name = dispatch.typename(mod)
    if type(mod) not in module_fetch_book:
        raise RuntimeError(f"{name} is not in the module_fetch_book yet")
    version, attributes, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(f"module_fetch_book has {name} of version {version}, not {mod._version}")
    found = {attr: getattr(mod, matching(attr, mod._version)) for attr in attributes}
    return {"name": name, **found}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Nodes that call a module get its attributes as `attrs_for_lowering`, in graphs within too."""
    submodules = dict(fx_module.named_modules())
    for node in fx_module.graph.find_nodes(op="call_module"):
        module = submodules[node.target]
        if isinstance(module, GraphModule):
            lift_lowering_attrs_to_nodes(module)
        else:
            vars(node)["attrs_for_lowering"] = extract_attrs_for_lowering(module)


class AnnotateTypesWithSchema(Transformer):
    """A copy of a module whose nodes have the types that functions and layers say they give."""

    def __init__(
        self,
        module: GraphModule,
        annotate_functionals: bool = True,
        annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:
        super().__init__(module)
        self.annotate_functionals = annotate_functionals
        self.annotate_modules = annotate_modules
        self.annotate_get_attrs = annotate_get_attrs

    @staticmethod
    def _typed(proxy: Any, function: Any) -> Any:
        try:
            given = inspect.signature(function).return_annotation
        except (ValueError, TypeError):
            return proxy
        if not proxy.node.type and given is not inspect.Signature.empty:
            proxy.node.type = given
        return proxy

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        found = super().call_function(target, args, kwargs)
        known = getattr(functional, getattr(target, "__name__", ""), None) is target
        return self._typed(found, target) if self.annotate_functionals and known else found

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        found = super().call_module(target, args, kwargs)
        module = self.fetch_attr(target)
        known = getattr(modules, type(module).__name__, None) is type(module)
        return self._typed(found, module.forward) if self.annotate_modules and known else found

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        found = super().get_attr(target, args, kwargs)
        value = self.fetch_attr(target)
        if self.annotate_get_attrs and not found.node.type:
            plain = (dispatch.Tensor, bool, int, float, str)
            found.node.type = next((kind for kind in plain if isinstance(value, kind)), None)
        return found


def split_result_tensors(result: Any, inputs: Sequence[Any]) -> Any:
    """A product's rows for each of the inputs that were joined for it."""
    traced = isinstance(result, Proxy)
    return dispatch.split(result, [0 if traced else x.shape[0] for x in inputs])


def may_depend_on(a: Node, b: Node, search_depth: int = 6) -> bool:
    """Whether `a` comes of `b`, or that is not known within so many steps."""
    if a == b:
        return True
    if not a.all_input_nodes:
        return False
    return search_depth == 0 or any(
        may_depend_on(used, b, search_depth - 1) for used in a.all_input_nodes
    )


def are_nodes_independent(nodes: Sequence[Node]) -> bool:
    """Whether none comes of another."""
    pairs = itertools.combinations(nodes, 2)
    return not any(may_depend_on(a, b) or may_depend_on(b, a) for a, b in pairs)


def _merged(graph: Graph, right: Any, products: Sequence[Node]) -> None:
    lefts = [product.args[0] for product in products]
    joined = graph.call_function(dispatch.cat, (lefts,))
    right = graph.get_attr(right) if isinstance(right, str) else right
    whole = graph.call_function(dispatch.matmul, (joined, right))
    parts = graph.call_function(split_result_tensors, (whole, lefts))
    for place, old in enumerate(products):
        old.replace_all_uses_with(graph.call_function(operator.getitem, (parts, place)))
        graph.erase_node(old)


def merge_matmul(in_mod: Any) -> GraphModule:
    """Products with the same right side become one, of their left sides under one another."""
    gm = symbolic_trace(in_mod)
    users: dict[Any, list[Node]] = {}
    for node in gm.graph.find_nodes(op="call_function", target=dispatch.matmul):
        right: Any = node.args[1]
        users.setdefault(right.target if right.op == "get_attr" else right, []).append(node)
    for right, products in users.items():
        if len(products) > 1 and are_nodes_independent(products):
            _merged(gm.graph, right, products)
            legalize_graph(gm)
    gm.recompile()
    gm.graph.lint()
    return gm
