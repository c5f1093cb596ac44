"""Tables of functions that take operators apart (torch._decomp), for tracers that are given one.

A program enters functions of its own and asks for those of a list of operators. What PyTorch writes
of its operators in Python is not here: the tables begin with the few that `OpOverload.decompose`
knows besides composite kernels.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from dispatch import OpOverload, OpOverloadPacket, Tag, ops, pytree
from dispatch._C.inspection import _dispatch_has_kernel
from dispatch._ops import HigherOrderOperator
from dispatch._ops.decompositions import DECOMPOSITIONS

__all__ = [
    "core_aten_decompositions",
    "decomposition_table",
    "get_decompositions",
    "global_decomposition_table",
    "meta_table",
    "pre_autograd_decomposition_table",
    "register_decomposition",
    "remove_decompositions",
]

Table = dict[Any, Callable[..., Any]]
F = TypeVar("F", bound=Callable[..., Any])

global_decomposition_table: dict[str, Table] = {
    "post_autograd": dict(DECOMPOSITIONS),
    "pre_autograd": {},
    "meta": {},
}
decomposition_table = global_decomposition_table["post_autograd"]
pre_autograd_decomposition_table = global_decomposition_table["pre_autograd"]
meta_table = global_decomposition_table["meta"]


def _table(type: str) -> Table:
    if type not in global_decomposition_table:
        raise AssertionError(
            f"expected a type among {', '.join(global_decomposition_table)}, got {type}"
        )
    return global_decomposition_table[type]


def _overloads(op: Any) -> list[Any]:
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name) for name in op.overloads()]
    return [op]


def register_decomposition(
    aten_op: Any, registry: Table | None = None, *, type: str = "post_autograd",
    unsafe: bool = False,
) -> Callable[[F], F]:  # fmt: skip
    """A decorator: the function takes operators apart.

    Args:
        aten_op: an overload, a packet for all of its overloads, or a nest of such.
        registry: the table that it is entered into, in place of the one of `type`.
        type: "post_autograd", "pre_autograd" or "meta".
        unsafe: kept for programs that give it.

    Raises:
        AssertionError: another type, or what is no operator.
        RuntimeError: the table has a function for an overload.
    """
    chosen = _table(type) if registry is None else registry

    def enter(fn: F) -> F:
        for op in pytree.tree_leaves(aten_op):
            if not isinstance(op, OpOverload | OpOverloadPacket | HigherOrderOperator):
                raise AssertionError(f"register_decomposition: expected an operator, got {op}")
            for overload in _overloads(op):
                if overload in chosen:
                    raise RuntimeError(f"duplicate registrations for {overload}")
                if not isinstance(overload, OpOverload) or _dispatch_has_kernel(overload.name()):
                    chosen[overload] = fn
        return fn

    return enter


def get_decompositions(aten_ops: Iterable[Any], type: str = "post_autograd") -> Table:
    """{overload: function} of these overloads, and of all of these packets, that a table has."""
    table = _table(type)
    wanted = [overload for op in aten_ops for overload in _overloads(op)]
    return {overload: table[overload] for overload in wanted if overload in table}


def remove_decompositions(decompositions: Table, aten_ops: Iterable[Any]) -> None:
    """Take these overloads, and all of these packets, from a table, if it has them."""
    for op in aten_ops:
        for overload in _overloads(op):
            decompositions.pop(overload, None)


def core_aten_decompositions() -> Table:
    """A copy of what an export takes apart unless it is told otherwise."""
    return dict(decomposition_table)


def _should_decompose_because_unsafe_op(op: Any) -> bool:
    """Whether the schema does not say what the operator writes or shares."""
    if not isinstance(op, OpOverload):
        return False
    return Tag.maybe_aliasing_or_mutating in op.tags or op is ops.aten.native_batch_norm.default
