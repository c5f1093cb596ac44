"""What nodes say of where they come from while graphs are made of graphs (torch.fx.traceback)."""

import copy
import enum
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from dispatch.as_torch.fx.node import Node

__all__ = [
    "NodeSource", "NodeSourceAction", "annotate", "annotate_fn", "format_stack", "get_current_meta",
    "has_preserved_node_meta", "preserve_node_meta", "set_current_meta",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
_KEPT = (
    "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id",
    "has_backward_hook", "from_node", "quantization_tag", "_numeric_debug_handle", "custom",
    "partitioner_tag",
)  # fmt: skip


class NodeSourceAction(enum.Enum):
    """What a pass did to get a node."""

    CREATE = "create"
    REPLACE = "replace"


class _Origin(NamedTuple):
    name: str
    target: str
    graph_id: int


class NodeSource:
    """The node that another one was made of, and what that one was made of (`from_node`).

    Args:
        node: the node; None: there was none.
        pass_name: who made the other one.
        action: what was done, one or several.
    """

    def __init__(
        self, node: Node | None, pass_name: str = "",
        action: NodeSourceAction | list[NodeSourceAction] | None = None,
    ) -> None:  # fmt: skip
        self.pass_name = pass_name
        self.action = action if isinstance(action, list) else [] if action is None else [action]
        self.node_info: _Origin | None = None
        self.from_node: list[NodeSource] = []
        if node is not None:
            self.node_info = _Origin(node.name, str(node.target), id(node.graph))
            self.from_node = copy.deepcopy(node.meta.get("from_node", []))

    @property
    def name(self) -> str:
        """What the node was called."""
        return self.node_info.name if self.node_info else ""

    @property
    def target(self) -> str:
        """What it called, as a text."""
        return self.node_info.target if self.node_info else ""

    @property
    def graph_id(self) -> int:
        """A number of its graph; -1 for none."""
        return self.node_info.graph_id if self.node_info else -1

    def _done(self) -> str:
        return "+".join(one.name.lower() for one in self.action)

    def print_readable(self, indent: int = 0) -> str:
        """A line for each origin, ten deep."""
        if indent > 9:
            return ""
        said = f"name={self.name}, pass_name={self.pass_name}, action={self._done()}"
        line = f"{'    ' * indent}({said}, graph_id={self.graph_id})\n"
        return line + "".join(one.print_readable(indent + 1) for one in self.from_node)

    __repr__ = print_readable

    def to_dict(self) -> dict[str, Any]:
        """All of it in dicts, lists and texts."""
        return {
            "name": self.name, "target": self.target, "graph_id": self.graph_id,
            "pass_name": self.pass_name, "action": self._done(),
            "from_node": [one.to_dict() for one in self.from_node],
        }  # fmt: skip

    @classmethod
    def _from_dict(cls, d: dict[str, Any] | None) -> "NodeSource | None":
        """What `to_dict` gave."""
        if d is None:
            return None
        words = filter(None, d.get("action", "").split("+"))
        made = cls(None, d.get("pass_name", ""), [NodeSourceAction(word) for word in words])
        if {"name", "target", "graph_id"} <= d.keys():
            made.node_info = _Origin(d["name"], d["target"], d["graph_id"])
        found = map(cls._from_dict, d.get("from_node") or ())
        made.from_node = [one for one in found if one is not None]
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.print_readable())


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
    origin = NodeSource(node, pass_name, NodeSourceAction.CREATE)
    before, current_meta = current_meta, {**node.meta, "from_node": [origin]}
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


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[F], F]:
    """A decorator: nodes that the function makes get these entries, as in `annotate`."""

    def mark(function: F) -> F:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return run  # type: ignore[return-value]

    return mark


def format_stack() -> list[str]:
    """The lines of Python that the current meta names."""
    trace = current_meta.get("stack_trace")
    return [trace] if trace else []
