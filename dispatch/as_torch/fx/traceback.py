"""What nodes say of where they come from while graphs are made of graphs (torch.fx.traceback)."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dispatch.as_torch.fx.node import Node

__all__ = [
    "annotate", "format_stack", "get_current_meta", "has_preserved_node_meta",
    "preserve_node_meta", "set_current_meta",
]  # fmt: skip

_KEPT = (
    "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id",
    "has_backward_hook", "from_node", "quantization_tag", "_numeric_debug_handle", "custom",
    "partitioner_tag",
)  # fmt: skip

current_meta: dict[str, Any] = {}
_preserving = False


def has_preserved_node_meta() -> bool:
    """Whether new nodes get what `current_meta` says."""
    return _preserving


def get_current_meta() -> dict[str, Any]:
    """What new nodes get."""
    return current_meta


def note(node: Node) -> None:
    """Give a new node what the current meta says."""
    if current_meta.get("stack_trace"):
        node.stack_trace = current_meta["stack_trace"]
    for key in _KEPT:
        if key in current_meta:
            node.meta[key] = copy.copy(current_meta[key])


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """New nodes say where those come from that they are made of."""
    global _preserving, current_meta
    before = _preserving, current_meta
    _preserving, current_meta = enable, dict(current_meta)
    try:
        yield
    finally:
        _preserving, current_meta = before


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """New nodes get this node's meta, if they get any."""
    global current_meta
    if not (_preserving and node.meta):
        yield
        return
    before, current_meta = current_meta, dict(node.meta)
    try:
        yield
    finally:
        current_meta = before


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """New nodes get these entries in `meta["custom"]`, if they get any."""
    global current_meta
    before = current_meta
    custom = {**before.get("custom", {}), **annotation_dict}
    current_meta = {**before, "custom": custom}
    try:
        yield
    finally:
        current_meta = before


def format_stack() -> list[str]:
    """The lines of Python that the current meta names."""
    trace = current_meta.get("stack_trace")
    return [trace] if trace else []
