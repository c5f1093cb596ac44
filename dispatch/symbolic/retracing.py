"""What programs that trace and compile keep beside symbols: tracked inputs, nodes of graphs, keys.

Names are those of `torch.fx.experimental.symbolic_shapes`. A node is anything with `op`, `target`,
`args` and `meta`; a graph module anything with `graph.nodes` and `shape_env`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dispatch.symbolic import guard_text
from dispatch.symbolic.contents import free_unbacked_symbols
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt
from dispatch.symbolic.questions import _check, sym_ite
from dispatch.symbolic.sources import Source

__all__ = [
    "CURRENT_NODE_KEY",
    "SHAPEENV_EVENT_KEY",
    "SYMPY_INTERP",
    "InnerTensorKey",
    "Specialization",
    "SymIntEqByExpr",
    "TrackedFake",
    "ValueRangesSLoc",
    "bind_symbols",
    "cast_symbool_to_symint_guardless",
    "check_consistent",
    "create_contiguous",
    "eval_guards",
    "find_symbol_binding_fx_nodes",
    "fx_placeholder_targets",
    "fx_placeholder_vals",
    "is_accessor_node",
    "is_symbol_binding_fx_node",
]

SHAPEENV_EVENT_KEY = "shapeenv_event"
CURRENT_NODE_KEY = "current_node"
_PROPERTIES = frozenset(("sym_size", "sym_stride", "sym_storage_offset", "sym_numel"))
_METHODS = ("size", "stride", "storage_offset", "item")


@dataclass
class TrackedFake:
    """An input: the fake tensor or symbolic number, where it comes from, how it became symbolic."""

    fake: Any
    source: Source
    symbolic_context: Any

    def __hash__(self) -> int:
        return hash((self.fake, self.source.name))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrackedFake):
            return False
        return self.fake is other.fake and self.source.name == other.source.name


@dataclass(frozen=True)
class Specialization:
    """A dimension for which a faster program would do, when the check holds."""

    source: Source
    check_fn: Callable[[int], bool]


@dataclass
class ValueRangesSLoc:
    """The lines that gave the two ends of a range."""

    lower: Any
    upper: Any


@dataclass(frozen=True)
class InnerTensorKey:
    """A tensor that a wrapper subclass holds."""

    inner_name: str

    def __str__(self) -> str:
        return f".{self.inner_name}"

    def get(self, x: Any) -> Any:
        """The tensor held."""
        return getattr(x, self.inner_name)


class SymIntEqByExpr:
    """A size that is equal to another when both are the same expression; nothing is guarded."""

    def __init__(self, val: Any) -> None:
        self.val = val.node.expr if isinstance(val, SymInt) else val

    def __repr__(self) -> str:
        return repr(self.val)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SymIntEqByExpr):
            raise AssertionError(f"Expected SymIntEqByExpr, got {type(other)}")
        return bool(self.val == other.val)

    def __hash__(self) -> int:
        return hash(self.val)


def create_contiguous(shape: Sequence[Any]) -> list[Any]:
    """The strides of a tensor without gaps."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, size * strides[0])
    return strides


def cast_symbool_to_symint_guardless(symbool: Any) -> Any:
    """1 or 0, without a guard."""
    if not isinstance(symbool, SymBool):
        return int(symbool)
    one, zero = (SymInt(symbool.node.wrap_int(x)) for x in (1, 0))
    return sym_ite(symbool, one, zero)


# What the text of a condition may call (`guard_text` writes none that calls the last one).
SYMPY_INTERP: dict[str, Any] = {
    **guard_text.FUNCTIONS,
    "cast_symbool_to_symint_guardless": cast_symbool_to_symint_guardless,
}


def check_consistent(new: Any, old: Any) -> None:
    """Two values of the same place in two runs have the same sizes, or are the same number.

    Raises:
        RuntimeError: they do not.
    """
    numbers = (SymInt, SymFloat, int, float)
    if hasattr(new, "shape"):
        if not hasattr(old, "shape"):
            raise AssertionError(f"Expected Tensor, got {type(old)}")

        def differ() -> str:
            return f"{old.shape} != {new.shape} (old != new)"

        _check(old.dim() == new.dim(), differ)
        for a, b in zip(old.shape, new.shape, strict=True):
            _check(a == b, differ)
    elif isinstance(new, numbers) and not isinstance(new, bool):
        if not isinstance(old, numbers) or isinstance(old, bool):
            raise AssertionError(f"{old} != {new}")
        _check(old == new, lambda: f"{old} != {new} (old != new)")


# --- nodes


def is_accessor_node(node: Any) -> bool:
    """Whether a node reads a size, stride, offset or item of a tensor."""
    if node.op == "call_method":
        held = getattr(node.args[0], "meta", {}).get("example_value") if node.args else None
        return held is not None and hasattr(held, "storage_offset") and node.target in _METHODS
    if node.op != "call_function":
        return False
    schema = getattr(node.target, "_schema", None)
    name = schema.name if schema is not None else getattr(node.target, "_qualified_op_name", "")
    return str(name).removeprefix("aten::") in _PROPERTIES


def is_symbol_binding_fx_node(node: Any) -> Expr | None:
    """The symbol that a node brings in: an input, or one of data."""
    val = node.meta.get("val")
    if not isinstance(val, SymInt) or not val.node.expr.is_symbol:
        return None
    found: Expr = val.node.expr
    return found if node.op == "placeholder" or free_unbacked_symbols(found) else None


def find_symbol_binding_fx_nodes(graph: Any) -> dict[Expr, Any]:
    """{symbol: the first node that brings it in}."""
    found: dict[Expr, Any] = {}
    for node in graph.nodes:
        if (symbol := is_symbol_binding_fx_node(node)) is not None:
            found.setdefault(symbol, node)
    return found


def fx_placeholder_vals(gm: Any) -> list[Any]:
    """The inputs of a graph module as they were traced."""
    return [node.meta["val"] for node in gm.graph.nodes if node.op == "placeholder"]


def fx_placeholder_targets(gm: Any) -> list[str]:
    """The names of the inputs of a graph module."""
    return [node.target for node in gm.graph.nodes if node.op == "placeholder"]


def eval_guards(gm: Any, *args: Any, ignore_static: bool = True) -> bool:
    """Whether inputs keep to the guards of a graph module's trace."""
    found = gm.shape_env.evaluate_guards_for_args(
        fx_placeholder_vals(gm), args, ignore_static=ignore_static
    )
    return bool(found)


def bind_symbols(gm: Any, *args: Any) -> dict[Expr, int]:
    """{symbol: number} of these inputs."""
    found: dict[Expr, int] = gm.shape_env.bind_symbols(fx_placeholder_vals(gm), args)
    return found
