"""`while_loop`: a function on its own results while another says so.

(torch._higher_order_ops.while_loop.) On fake tensors one round runs, whose results have to be like
what is carried.
"""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C import dtypes
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.rules import check_operands, serve_fake, serve_grad
from dispatch._ops import HigherOrderOperator

__all__ = ["WhileLoopOp", "while_loop", "while_loop_op"]

_Function = Callable[..., Any]


class WhileLoopOp(HigherOrderOperator):
    """`dispatch.ops.higher_order.while_loop(cond_fn, body_fn, carried, additional)`."""

    def __init__(self) -> None:
        super().__init__("while_loop")

    def __call__(
        self,
        cond_fn: _Function,
        body_fn: _Function,
        carried_inputs: Any,
        additional_inputs: Any,
        /,
    ) -> Any:
        """What is carried in the end. RuntimeError: no tuples; AssertionError: of other things."""
        for name, given in (("carried", carried_inputs), ("additional", additional_inputs)):
            if not isinstance(given, (tuple, list)):
                raise RuntimeError(f"while_loop: {name}_inputs: expected a tuple, got {given}")
            check_operands(given)
        return super().__call__(cond_fn, body_fn, carried_inputs, additional_inputs)


while_loop_op = WhileLoopOp()


def while_loop(cond_fn: _Function, body_fn: _Function, carried_inputs: Any) -> Any:
    """`body_fn` of its own results while `cond_fn` of them is true.

    Args:
        cond_fn: gives a bool, or a bool tensor without dimensions.
        body_fn: gives a tuple like `carried_inputs`.
        carried_inputs: a tuple or list, maybe nested, of tensors and ints.

    Raises:
        RuntimeError: no functions, or `cond_fn` gives something else.
        AssertionError: the inputs, or what `body_fn` gives, are not what they should be.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    flat, spec = pytree.tree_flatten(carried_inputs)
    if not all(isinstance(leaf, Tensor | int) for leaf in flat):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only "
            f"consists of tensor or int leaves, but got {carried_inputs}."
        )

    def again(*leaves: Any) -> Any:
        return cond_fn(*pytree.tree_unflatten(leaves, spec))

    def step(*leaves: Any) -> tuple[Any, ...]:
        out = body_fn(*pytree.tree_unflatten(leaves, spec))
        return tuple(pytree.tree_leaves(_checked(out, len(carried_inputs))))

    return pytree.tree_unflatten(while_loop_op(again, step, tuple(flat), ()), spec)


def _said(said: Any) -> Any:
    is_scalar = isinstance(said, Tensor) and said.dtype is dtypes.bool and not said.ndim
    if is_scalar or isinstance(said, bool):
        return said
    raise RuntimeError(f"while_loop: cond_fn: expected a bool without dimensions, got {said}")


@while_loop_op.py_impl(DispatchKey.CompositeExplicitAutograd)
def while_loop_dense(
    cond_fn: _Function, body_fn: _Function, carried_inputs: Any, additional_inputs: Any
) -> Any:
    """The loop; without a round, copies of what was given."""
    carried = carried_inputs
    if not _said(cond_fn(*carried, *additional_inputs)):
        return tuple(v.clone() if isinstance(v, Tensor) else v for v in carried)
    while True:
        carried = _checked(body_fn(*carried, *additional_inputs), len(carried_inputs))
        if not cond_fn(*carried, *additional_inputs):
            return carried


def _checked(out: Any, n: int) -> tuple[Any, ...]:
    if not isinstance(out, tuple) or len(out) != n:
        raise AssertionError(f"while_loop: body_fn: expected a tuple of {n}, got {out}")
    return out


serve_grad(while_loop_op)


@serve_fake(while_loop_op)
def while_loop_fake(
    cond_fn: _Function, body_fn: _Function, carried_inputs: Any, additional_inputs: Any
) -> Any:
    """One round, whose results have to be like what is carried."""
    out = _checked(body_fn(*carried_inputs, *additional_inputs), len(carried_inputs))
    for i, (before, after) in enumerate(zip(carried_inputs, out, strict=True)):
        if not _alike(before, after):
            raise RuntimeError(f"while_loop: body_fn: result {i} is not like what is carried")
    return out


def _alike(before: Any, after: Any) -> bool:
    if not isinstance(before, Tensor) or not isinstance(after, Tensor):
        return type(before) is type(after)
    return (before.shape, before.dtype, before.device) == (after.shape, after.dtype, after.device)


@while_loop_op.py_functionalize_impl
def while_loop_functional(
    ctx: Any, cond_fn: _Function, body_fn: _Function, carried_inputs: Any, additional_inputs: Any
) -> Any:
    """Both functions functionalized, on the values of the inputs."""
    carried, additional = (ctx.unwrap_tensors(x) for x in (carried_inputs, additional_inputs))
    with ctx.redispatch_to_next():
        again, body = ctx.functionalize(cond_fn), ctx.functionalize(body_fn)
        return ctx.wrap_tensors(while_loop_op(again, body, carried, additional))
