"""`cond`: one of two functions, as a tensor says (torch._higher_order_ops.cond).

On fake tensors both run and have to agree in structure and metadata; everywhere else one runs.
"""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.aliases import check_aliases
from dispatch._higher_order_ops.merge import merge
from dispatch._higher_order_ops.rules import (
    check_operands,
    inside_a_function,
    nested,
    serve_fake,
    serve_grad,
)
from dispatch._ops import HigherOrderOperator
from dispatch.symbolic import SymBool

__all__ = ["CondOp", "cond", "cond_op"]

_Function = Callable[..., Any]


class CondOp(HigherOrderOperator):
    """`dispatch.ops.higher_order.cond(pred, true_fn, false_fn, operands)`."""

    def __init__(self) -> None:
        super().__init__("cond")

    def __call__(self, pred: Any, true_fn: _Function, false_fn: _Function, operands: Any) -> Any:
        """One of the functions on the operands. AssertionError: they are no tensors or ints."""
        check_operands(operands)
        return super().__call__(pred, true_fn, false_fn, operands)


cond_op = CondOp()


def cond(pred: Any, true_fn: _Function, false_fn: _Function, operands: Any = ()) -> Any:
    """`true_fn(*operands)` if `pred`, else `false_fn(*operands)`.

    Args:
        pred: a number, which decides here and now, or a tensor of one element or a SymBool.
        true_fn, false_fn: functions of the operands, with results of one structure.
        operands: a tuple or list, maybe nested, of tensors.

    Raises:
        RuntimeError: one of these is something else.
    """
    if isinstance(pred, (bool, int, float)):
        return true_fn(*operands) if pred else false_fn(*operands)
    if not isinstance(pred, Tensor | SymBool):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    leaves = pytree.tree_leaves(operands)
    if not isinstance(operands, (tuple, list)) or not all(isinstance(x, Tensor) for x in leaves):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists "
            f"of tensor leaves, but got {operands}."
        )
    flat, spec = pytree.tree_flatten(tuple(operands))
    results: list[Any] = []

    def flattened(fn: _Function) -> _Function:
        def run(*leaves: Any) -> tuple[Any, ...]:
            found, structure = pytree.tree_flatten(fn(*pytree.tree_unflatten(leaves, spec)))
            if results and structure != results[0]:
                structures = f"{results[0]} and {structure}"
                raise RuntimeError(f"cond: the branches return different structures: {structures}")
            results.append(structure)
            return tuple(found)

        return run

    found = cond_op(pred, flattened(true_fn), flattened(false_fn), tuple(flat))
    return nested(found, results[0] if results else None)


@cond_op.py_impl(DispatchKey.CompositeExplicitAutograd)
def cond_op_dense(pred: Any, true_fn: _Function, false_fn: _Function, operands: Any) -> Any:
    """The branch that the predicate says."""
    return true_fn(*operands) if pred else false_fn(*operands)


serve_grad(cond_op)


@serve_fake(cond_op)
def cond_fake(pred: Any, true_fn: _Function, false_fn: _Function, operands: Any) -> Any:
    """What the results of both branches have in common: sizes may differ, if there are symbols."""
    with inside_a_function():
        yes, spec = pytree.tree_flatten(true_fn(*operands))
        no, other = pytree.tree_flatten(false_fn(*operands))
    if spec != other:
        raise RuntimeError(f"cond: the branches return different structures: {spec} and {other}")
    return pytree.tree_unflatten([merge(a, b) for a, b in zip(yes, no, strict=True)], spec)


@cond_op.py_functionalize_impl
def cond_functional(
    ctx: Any, pred: Any, true_fn: _Function, false_fn: _Function, operands: Any
) -> Any:
    """Both branches functionalized, on the values of the operands.

    RuntimeError: one of them writes an operand, or returns one or a view of it.
    """
    pred, operands = ctx.unwrap_tensors(pred), ctx.unwrap_tensors(operands)
    with ctx.redispatch_to_next():
        check_aliases(true_fn, operands, "cond_true")
        check_aliases(false_fn, operands, "cond_false")
        yes, no = ctx.functionalize(true_fn), ctx.functionalize(false_fn)
        return ctx.wrap_tensors(cond_op(pred, yes, no, operands))
