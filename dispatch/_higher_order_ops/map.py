"""`map`: a function of each row, the results stacked (torch._higher_order_ops.map)."""

from collections.abc import Callable, Sequence
from typing import Any

from dispatch import pytree
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.aliases import check_aliases
from dispatch._higher_order_ops.rules import (
    first_rows,
    inside_a_function,
    nested,
    serve_fake,
    serve_grad,
    stack,
)
from dispatch._ops import HigherOrderOperator, ops

__all__ = ["MapImpl", "map", "map_impl"]

_Function = Callable[..., Any]
_aten = ops.aten


class MapImpl(HigherOrderOperator):
    """`dispatch.ops.higher_order.map_impl(f, xs, pos_args)`, of flat lists."""

    def __init__(self) -> None:
        super().__init__("map_impl")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The stacked results of `f(*row of each x, *pos_args)`."""
        return super().__call__(*args, **kwargs)


map_impl = MapImpl()


def map(f: _Function, xs: Any, *args: Any) -> Any:
    """`f(x, *args)` of the rows x of the tensors in `xs`, stacked.

    RuntimeError: `xs` has something else in it, no rows, or different numbers of them.
    """
    flat_xs, xs_spec = pytree.tree_flatten(xs)
    flat_args, args_spec = pytree.tree_flatten(args)
    if not all(isinstance(t, Tensor) for t in flat_xs):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {flat_xs}.")
    shapes = [t.shape for t in flat_xs]
    if not shapes or not all(shapes):
        raise RuntimeError(f"map: xs: expected tensors with rows, got shapes {shapes}")
    if shapes[0][0] == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any(shape[0] != shapes[0][0] for shape in shapes):
        raise RuntimeError(
            f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}."
        )

    spec = None

    def on_flat(*leaves: Any) -> tuple[Any, ...]:
        nonlocal spec
        row = pytree.tree_unflatten(leaves[: len(flat_xs)], xs_spec)
        out = f(row, *pytree.tree_unflatten(leaves[len(flat_xs) :], args_spec))
        flat, spec = pytree.tree_flatten(out)
        return tuple(flat)

    return nested(map_impl(on_flat, flat_xs, flat_args), spec)


@map_impl.py_impl(DispatchKey.CompositeExplicitAutograd)
def map_dense(f: _Function, xs: Sequence[Any], pos_args: Sequence[Any]) -> Any:
    """Row by row."""
    rows = zip(*(_aten.unbind.int(x) for x in xs), strict=True)
    return stack([f(*row, *pos_args) for row in rows])


serve_grad(map_impl)


@serve_fake(map_impl)
def map_fake(f: _Function, xs: Sequence[Any], pos_args: Sequence[Any]) -> Any:
    """One row's result, as often as there are rows."""
    n = xs[0].shape[0]
    with inside_a_function():
        one = f(*first_rows(xs), *pos_args)
    return pytree.tree_map_only(Tensor, lambda t: t.new_empty((n, *t.shape)), one)


@map_impl.py_functionalize_impl
def map_functional(ctx: Any, f: _Function, xs: Any, pos_args: Any) -> Any:
    """The function functionalized, on the values of the inputs."""
    xs, pos_args = ctx.unwrap_tensors(xs), ctx.unwrap_tensors(pos_args)
    with ctx.redispatch_to_next():
        check_aliases(f, (*first_rows(xs), *pos_args), "map")
        return ctx.wrap_tensors(map_impl(ctx.functionalize(f), xs, pos_args))
