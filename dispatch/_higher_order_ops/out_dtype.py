"""`out_dtype`: an operator with its result in a given dtype (torch._higher_order_ops.out_dtype)."""

from typing import Any

from dispatch import pytree
from dispatch._C import dtypes
from dispatch._C.keys import DispatchKey
from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.rules import serve_fake, serve_grad
from dispatch._ops import HigherOrderOperator, ops
from dispatch.kernels.meta import rules

__all__ = ["ALLOWABLE_OPS", "OutDtypeOperator", "out_dtype"]

_aten = ops.aten
ALLOWABLE_OPS = [
    _aten.linear.default,
    _aten.mm.default,
    _aten.conv2d.default,
    _aten.convolution.default,
    _aten.mul.Tensor,
    _aten.mul.Scalar,
    _aten.div.Tensor,
    _aten.div.Scalar,
]


class OutDtypeOperator(HigherOrderOperator):
    """`dispatch.ops.higher_order.out_dtype(op, dtype, *args)`.

    The arguments are promoted together with the dtype, the operator runs, its result is cast.
    """

    def __init__(self) -> None:
        super().__init__("out_dtype")

    def __call__(self, op: OpOverload, output_dtype: dtypes.dtype, *args: Any) -> Any:
        """The cast result. ValueError: no overload, or one that is not in `ALLOWABLE_OPS`."""
        if not isinstance(op, OpOverload):
            raise ValueError("out_dtype's first argument must be an OpOverload")
        if op._schema.is_mutable:
            raise ValueError("out_dtype's first argument needs to be a functional operator")
        returns = [r.type for r in op._schema.returns]
        if [r.text for r in returns] != ["Tensor"]:
            raise ValueError(
                "out_dtype's can only apply to ops that return a single tensor"
                f"Instead got {returns}"
            )
        if op not in ALLOWABLE_OPS:
            raise ValueError(f"out_dtype only allows the following operators: {ALLOWABLE_OPS}.")
        return super().__call__(op, output_dtype, *args)


out_dtype = OutDtypeOperator()


@out_dtype.py_impl(DispatchKey.CompositeExplicitAutograd)
def out_dtype_dense(op: OpOverload, output_dtype: dtypes.dtype, *args: Any) -> Any:
    """Arguments in the promoted dtype, the result cast."""
    flat = [x for x in pytree.tree_leaves(args) if isinstance(x, (Tensor, int, float, complex))]
    kind = rules.result_type(*flat, _aten.empty.memory_format([1], dtype=output_dtype))
    cast = pytree.tree_map_only(Tensor, lambda t: t.to(kind), args)
    return op(*cast).to(output_dtype)


serve_grad(out_dtype)
serve_fake(out_dtype)(out_dtype_dense)


@out_dtype.py_functionalize_impl
def out_dtype_functional(ctx: Any, op: OpOverload, output_dtype: dtypes.dtype, *args: Any) -> Any:
    """The operator writes nothing: it runs on the values."""
    values = ctx.unwrap_tensors(args)
    with ctx.redispatch_to_next():
        return ctx.wrap_tensors(out_dtype(op, output_dtype, *values))
