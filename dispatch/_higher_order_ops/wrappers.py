"""`strict_mode` and `hints_wrapper`: functions that are called and stay functions in a trace.

Source of the semantics: `torch/_higher_order_ops/{strict_mode,hints_wrap}.py`. `make_fx` gives each
a graph of its own (`as_torch.fx.higher_order`).
"""

from collections.abc import Callable
from typing import Any

from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.aliases import check_aliases
from dispatch._higher_order_ops.rules import autograd_not_implemented, serve_fake
from dispatch._ops import HigherOrderOperator

__all__ = [
    "HintsWrapper",
    "StrictMode",
    "hints_wrapper",
    "strict_mode",
    "strict_mode_op",
]

_Function = Callable[..., Any]


class StrictMode(HigherOrderOperator):
    """`dispatch.ops.higher_order.strict_mode(callable, operands)`."""

    def __init__(self) -> None:
        super().__init__("strict_mode")

    def __call__(self, callable: _Function, operands: Any) -> Any:
        """`callable(*operands)`."""
        return super().__call__(callable, operands)


class HintsWrapper(HigherOrderOperator):
    """`dispatch.ops.higher_order.hints_wrapper(body_fn, args, kwargs, hints)`."""

    def __init__(self) -> None:
        super().__init__("hints_wrapper")

    def __call__(self, body_fn: _Function, args: Any, kwargs: Any, hints: Any) -> Any:
        """`body_fn(*args)`; the hints are for a compiler, and stay in a trace.

        Raises:
            RuntimeError: an operand that is no tensor or number; keywords; hints that are no
                dictionary of names to numbers and texts.
        """
        args = tuple(args)
        if not all(isinstance(t, (Tensor, int, float)) for t in args):
            kinds = [type(t).__name__ for t in args]
            raise RuntimeError(f"hints_wrapper: args: expected tensors and numbers, got {kinds}")
        if not isinstance(kwargs, dict) or kwargs:
            raise RuntimeError(f"hints_wrapper: kwargs: expected an empty dict, got {kwargs!r}")
        if not isinstance(hints, dict):
            kind = type(hints).__name__
            raise RuntimeError(f"hints_wrapper: hints must be a dict, got {kind}")
        for name, value in hints.items():
            if not isinstance(name, str) or not isinstance(value, (int, float, str)):
                raise RuntimeError(
                    "hints_wrapper: hints must be a dict of str to int, float, bool or str, got "
                    f"{name!r}: {value!r}"
                )
        return super().__call__(body_fn, args, kwargs, hints)


strict_mode_op = StrictMode()
hints_wrapper = HintsWrapper()


def strict_mode(callable: _Function, operands: Any) -> Any:
    """`callable(*operands)`, which a trace keeps as a graph of its own."""
    return strict_mode_op(callable, operands)


@strict_mode_op.py_impl(DispatchKey.CompositeExplicitAutograd)
def strict_mode_dense(callable: _Function, operands: Any) -> Any:
    """The call."""
    return callable(*operands)


@hints_wrapper.py_impl(DispatchKey.CompositeExplicitAutograd)
def hints_wrapper_dense(body_fn: _Function, args: Any, kwargs: Any, hints: Any) -> Any:
    """The call, without the hints."""
    return body_fn(*args, **kwargs)


for _op, _run in ((strict_mode_op, strict_mode_dense), (hints_wrapper, hints_wrapper_dense)):
    _op.py_autograd_impl(autograd_not_implemented(_op, deferred_error=True))
    serve_fake(_op)(_run)


@strict_mode_op.py_functionalize_impl
def strict_mode_functional(ctx: Any, callable: _Function, operands: Any) -> Any:
    """The function functionalized, on the values of the operands."""
    values = ctx.unwrap_tensors(operands)
    with ctx.redispatch_to_next():
        return ctx.wrap_tensors(strict_mode_op(ctx.functionalize(callable), values))


@hints_wrapper.py_functionalize_impl
def hints_wrapper_functional(
    ctx: Any, body_fn: _Function, args: Any, kwargs: Any, hints: Any
) -> Any:
    """The same; a function that writes to an operand, or returns one, is refused."""
    values = ctx.unwrap_tensors(args)
    with ctx.redispatch_to_next():
        check_aliases(body_fn, values, "hints_wrapper")
        return ctx.wrap_tensors(hints_wrapper(ctx.functionalize(body_fn), values, kwargs, hints))
