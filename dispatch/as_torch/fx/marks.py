"""Small helpers that programs over graphs import (torch.fx._compatibility, _utils and their like).

Code of graph modules is made at once: what asks for lazy ones (`_lazy_graph_module`) gets those.
"""

import operator
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import dispatch
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node

__all__ = [
    "_BACK_COMPAT_OBJECTS", "_MARKED_WITH_COMPATIBILITY", "_LazyGraphModule", "_make_graph_module",
    "_use_lazy_graph_module", "annotate_getitem_nodes", "compatibility",
    "first_call_function_nn_module_stack", "get_node_context", "lazy_format_graph_code",
]  # fmt: skip

F = TypeVar("F")


_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[F], F]:
    """A decorator that remembers what its author promises; things stay as they are."""

    def mark(found: F) -> F:
        _MARKED_WITH_COMPATIBILITY.setdefault(found)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(found)
        return found

    return mark


class _LazyGraphModule(GraphModule):
    """A module whose code could be made when it is first called; it is made at once."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> GraphModule:
        """The module itself."""
        return gm

    @staticmethod
    def force_recompile(gm: GraphModule) -> None:
        """Nothing: the code is there."""

    def real_recompile(self) -> None:
        """Nothing: the code is there."""


def _make_graph_module(*args: Any, graph_module_cls: Any = None, **kwargs: Any) -> GraphModule:
    made: GraphModule = (graph_module_cls or GraphModule)(*args, **kwargs)
    return made


@contextmanager
def _use_lazy_graph_module(should_use: bool) -> Iterator[None]:
    """Nothing changes: code is made at once."""
    yield


class _Text:
    """A text that is made when somebody reads it: for logs."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()


def lazy_format_graph_code(
    name: str, gm: GraphModule, maybe_id: int | None = None, **kwargs: Any
) -> Any:
    """The readable code of a module under a title, as a text that is made when it is read."""
    title = name if maybe_id is None else f"{name} {maybe_id}"

    def make() -> str:
        text = gm.print_readable(**{"print_output": False, **kwargs})
        file = gm.forward.__code__.co_filename
        return f"TRACED GRAPH\n ===== {title} =====\n {file} {text}\n"

    return _Text(make)


def first_call_function_nn_module_stack(graph: Graph) -> dict[str, Any] | None:
    """The modules around the first call of a function that says them."""
    found = (n.meta.get("nn_module_stack") for n in graph.nodes if n.op == "call_function")
    return next((stack for stack in found if stack is not None), None)


def get_node_context(node: Node, num_nodes: int = 2) -> str:
    """A node and those before it, a line each."""
    lines: list[str] = []
    while len(lines) < num_nodes and node.op != "root":
        lines.insert(0, str(node.format_node()))
        node = node.prev
    return "\n".join(lines)


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give items of annotated tuples, lists and named tuples the types that these say."""
    for node in graph.find_nodes(op="call_function", target=operator.getitem):
        kind: Any = getattr(node.args[0], "type", None)
        index = node.args[1]
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin is tuple:
            node.type = inner[0] if inner[-1:] == (...,) else inner[index]
        elif origin is list:
            node.type = inner[0]
        elif kind is not dispatch.Tensor and hasattr(kind, "_fields"):
            node.type = kind.__annotations__[kind._fields[index]]
