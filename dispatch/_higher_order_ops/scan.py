"""`scan`: a function of what is carried and of each row (torch._higher_order_ops.scan)."""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.aliases import check_aliases
from dispatch._higher_order_ops.rules import (
    check_operands,
    first_rows,
    inside_a_function,
    serve_fake,
    serve_grad,
    stack,
)
from dispatch._ops import HigherOrderOperator, ops
from dispatch.kernels.meta.rules import wrap_dim

__all__ = ["ScanOp", "scan", "scan_op"]

_Function = Callable[..., Any]
_aten = ops.aten


class ScanOp(HigherOrderOperator):
    """`dispatch.ops.higher_order.scan(combine_fn, init, xs, additional_inputs)`, of flat lists."""

    def __init__(self) -> None:
        super().__init__("scan")

    def __call__(
        self, combine_fn: _Function, init: Any, xs: Any, additional_inputs: Any
    ) -> Any:
        """(what is carried in the end, the stacked results). AssertionError: no tensors or ints."""
        if not isinstance(additional_inputs, (tuple, list)):
            raise AssertionError(f"scan: expected a tuple of inputs, got {additional_inputs}")
        check_operands(additional_inputs)
        return super().__call__(combine_fn, init, xs, tuple(additional_inputs))


scan_op = ScanOp()


def scan(
    combine_fn: _Function, init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """(the last carry, the stacked results) of `carry, y = combine_fn(carry, x)` along `dim`.

    Args:
        combine_fn: a function of the carry and of a slice of `xs`.
        init: the first carry: tensors, maybe nested.
        xs: tensors, maybe nested, of one length along `dim`; without any, nothing is called.
        dim: where the slices lie, and where the results are stacked.
        reverse: from the last slice to the first.

    Raises:
        RuntimeError: one of these is something else, or there is no slice.
    """
    flat_init, init_spec = pytree.tree_flatten(init)
    flat_xs, xs_spec = pytree.tree_flatten(xs)
    if not flat_xs:
        return init, []
    _check(combine_fn, flat_init, flat_xs, dim, reverse)
    dim = wrap_dim(dim, flat_xs[0].ndim)
    if any(x.ndim <= dim or not x.shape[dim] for x in flat_xs):
        raise RuntimeError(
            "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"
        )
    rows = [_aten.movedim.int(x, dim, 0) if dim else x for x in flat_xs]
    if reverse:
        rows = [_aten.flip.default(x, [0]) for x in rows]
    y_spec: list[Any] = []

    def on_flat(*leaves: Any) -> list[Any]:
        carry = pytree.tree_unflatten(leaves[: len(flat_init)], init_spec)
        row = pytree.tree_unflatten(leaves[len(flat_init) :], xs_spec)
        carry, y = combine_fn(carry, row)
        flat_carry, carry_spec = pytree.tree_flatten(carry)
        if carry_spec != init_spec:
            raise RuntimeError(f"scan: combine_fn: the carry {carry_spec} is not like {init_spec}")
        flat_y, spec = pytree.tree_flatten(y)
        y_spec[:] = [spec]
        return [*flat_carry, *flat_y]

    out = scan_op(on_flat, flat_init, rows, ())
    if not y_spec:  # a mode answered
        carry, ys = out
        return carry, ys
    ys = [_in_place(y, dim, reverse) for y in out[len(flat_init) :]]
    return (
        pytree.tree_unflatten(out[: len(flat_init)], init_spec),
        pytree.tree_unflatten(ys, y_spec[0]),
    )


def _check(combine_fn: Any, init: list[Any], xs: list[Any], dim: Any, reverse: Any) -> None:
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise RuntimeError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if not init:
        raise RuntimeError("scan() operator requires init leaves.")
    for name, leaves in (("init", init), ("xs", xs)):
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"All {name} leaves must be a Tensor but got {leaf}")


def _in_place(y: Any, dim: int, reverse: bool) -> Any:
    """A stacked result in the order and at the dimension of `xs`."""
    if y is None:
        return None
    if reverse:
        y = _aten.flip.default(y, [0])
    return _aten.movedim.int(y, 0, dim) if 0 < dim < y.ndim else y


@scan_op.py_impl(DispatchKey.CompositeExplicitAutograd)
def scan_dense(combine_fn: _Function, init: Any, xs: Any, additional_inputs: Any) -> Any:
    """Row by row."""
    carry, n = list(init), len(init)
    if not xs:
        return carry, []
    ys = []
    for row in zip(*(_aten.unbind.int(x) for x in xs), strict=True):
        out = pytree.tree_leaves(combine_fn(*carry, *row, *additional_inputs))
        carry = out[:n]
        ys.append(out[n:])
    return (*carry, *stack(ys))


serve_grad(scan_op)


@serve_fake(scan_op)
def scan_fake(combine_fn: _Function, init: Any, xs: Any, additional_inputs: Any) -> Any:
    """One row's result, stacked as often as there are rows."""
    with inside_a_function():
        out = combine_fn(*init, *first_rows(xs), *additional_inputs)
    n = xs[0].shape[0]
    return (*out[: len(init)], *(y.new_empty((n, *y.shape)) for y in out[len(init) :]))


@scan_op.py_functionalize_impl
def scan_functional(
    ctx: Any, combine_fn: _Function, init: Any, xs: Any, additional_inputs: Any
) -> Any:
    """The function functionalized, on the values of the inputs."""
    init, xs, more = (ctx.unwrap_tensors(v) for v in (init, xs, additional_inputs))
    with ctx.redispatch_to_next():
        check_aliases(combine_fn, (*init, *first_rows(xs), *more), "scan")
        return ctx.wrap_tensors(scan_op(ctx.functionalize(combine_fn), init, xs, more))
