"""`while_loop`: a function on its own results while another says so.

(torch._higher_order_ops.while_loop.) On fake tensors one round runs, whose results have to be like
what is carried.
"""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C import _get_dispatch_mode, _TorchDispatchModeKey, dtypes
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.aliases import check_aliases
from dispatch._higher_order_ops.rules import (
    check_operands,
    inside_a_function,
    nested,
    serve_fake,
    serve_grad,
)
from dispatch._ops import HigherOrderOperator
from dispatch.symbolic import SymInt

__all__ = ["WhileLoopOp", "unknown_number", "while_loop", "while_loop_op"]

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
        body_fn: gives a tuple or list like `carried_inputs`, or the only item of it.
        carried_inputs: a tuple or list, maybe nested, of tensors and ints.

    Returns: what `body_fn` gave in the end; without a round, what was carried, as a tuple.

    Raises:
        RuntimeError: no functions, other inputs, or a function gives something else.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, tuple | list):
        raise RuntimeError(f"Expect carried_inputs to be a tuple, but got {carried_inputs}.")
    flat, spec = pytree.tree_flatten(tuple(carried_inputs))
    if not all(isinstance(leaf, Tensor | int | SymInt) for leaf in flat):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only "
            f"consists of tensor or int leaves, but got {carried_inputs}."
        )

    def again(*leaves: Any) -> Any:
        return cond_fn(*pytree.tree_unflatten(leaves, spec))

    structures = [spec]

    def step(*leaves: Any) -> tuple[Any, ...]:
        out = body_fn(*pytree.tree_unflatten(leaves, spec))
        found, own_spec = pytree.tree_flatten(out)
        out = out if isinstance(out, tuple | list) else (out,)
        if pytree.tree_structure(tuple(out)) != spec:
            wanted = f"a tuple of {len(carried_inputs)} like carried_inputs"
            raise RuntimeError(f"while_loop: body_fn: expected {wanted}, got {out}")
        structures[:] = [own_spec]
        return tuple(found)

    found = while_loop_op(again, step, tuple(flat), ())
    return nested(found, structures[0])


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
    with inside_a_function():
        out = _checked(body_fn(*carried_inputs, *additional_inputs), len(carried_inputs))
    for i, (before, after) in enumerate(zip(carried_inputs, out, strict=True)):
        if not _alike(before, after):
            raise RuntimeError(f"while_loop: body_fn: result {i} is not like what is carried")
    return tuple(map(unknown_number, out))


def unknown_number(value: Any) -> Any:
    """A new symbol for a number, which rounds of a loop change; other values as they are.

    Without a fake mode that has symbols the number stays.
    """
    mode = _get_dispatch_mode(_TorchDispatchModeKey.FAKE)
    env = None if mode is None else mode.shape_env
    if env is None or not isinstance(value, int | SymInt) or isinstance(value, bool):
        return value
    return env.create_unbacked_symint()


def _alike(before: Any, after: Any) -> bool:
    if isinstance(before, int | SymInt) and isinstance(after, int | SymInt):
        return True
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
        check_aliases(cond_fn, (*carried, *additional), "cond_fn")
        check_aliases(body_fn, (*carried, *additional), "body_fn")
        again, body = ctx.functionalize(cond_fn), ctx.functionalize(body_fn)
        return ctx.wrap_tensors(while_loop_op(again, body, carried, additional))
