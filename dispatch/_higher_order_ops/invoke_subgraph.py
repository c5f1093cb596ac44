"""`invoke_subgraph`: a function that stands for one part of a program (PyTorch's own).

Where PyTorch traces, calls with one identifier share one graph; nothing is traced here, so that the
function runs in every call.
"""

from collections.abc import Callable
from typing import Any

from dispatch._C import _is_opaque_type_registered
from dispatch._C.generator import Generator
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.rules import serve_fake, serve_grad
from dispatch._ops import HigherOrderOperator
from dispatch.registry.script_classes import FakeScriptObject
from dispatch.symbolic import SymInt

__all__ = [
    "InvokeSubgraphHOP",
    "invoke_subgraph",
    "invoke_subgraph_infer",
    "invoke_subgraph_placeholder",
    "mark_compile_region",
]

_Function = Callable[..., Any]
_OPERANDS = (Tensor, int, SymInt, Generator, FakeScriptObject, type(None))


class InvokeSubgraphHOP(HigherOrderOperator):
    """`dispatch.ops.higher_order.invoke_subgraph(subgraph, identifier, *operands)`."""

    def __init__(self) -> None:
        super().__init__("invoke_subgraph", cacheable=True)
        self.subgraph_indexes = [0]

    def __call__(self, subgraph: _Function, identifier: Any, *operands: Any) -> Any:
        """`subgraph(*operands)`, or `subgraph([*operands])` where it has a true `_boxed_call`.

        Raises:
            AssertionError: an identifier or an operand of a class that is not meant.
        """
        if identifier is not None and not isinstance(identifier, str):
            kind = type(identifier).__name__
            raise AssertionError(f"identifier must be None or a string, got {kind}")
        for operand in operands:
            if not isinstance(operand, _OPERANDS) and not _is_opaque(type(operand)):
                raise AssertionError(
                    "invoke_subgraph operands must be a list of tensors/ints/SymInts/Generator, "
                    f"got {type(operand).__name__}"
                )
        return super().__call__(subgraph, identifier, *operands)


def _is_opaque(cls: type) -> bool:
    names = (f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__)
    return any(map(_is_opaque_type_registered, names))


invoke_subgraph = InvokeSubgraphHOP()


@invoke_subgraph.py_impl(DispatchKey.CompositeExplicitAutograd)
def invoke_subgraph_dense(subgraph: _Function, identifier: str | None, *operands: Any) -> Any:
    """Run it."""
    if getattr(subgraph, "_boxed_call", False):
        return subgraph(list(operands))
    return subgraph(*operands)


serve_grad(invoke_subgraph)
serve_fake(invoke_subgraph)(invoke_subgraph_dense)


@invoke_subgraph.py_functionalize_impl
def invoke_subgraph_functional(
    ctx: Any, subgraph: _Function, identifier: str | None, *operands: Any
) -> Any:
    """The function functionalized, on the values of the operands; they get what it wrote."""

    def and_operands(*values: Any) -> Any:
        return invoke_subgraph_dense(subgraph, identifier, *values), values

    values = ctx.unwrap_tensors(operands)
    with ctx.redispatch_to_next():
        out, after = invoke_subgraph(ctx.functionalize(and_operands), identifier, *values)
    for operand, value, new in zip(operands, values, after, strict=True):
        if operand is not value and new is not value:
            ctx.replace(operand, new)
            ctx.commit_update(operand)
            ctx.sync(operand)
    return ctx.wrap_tensors(out)


def invoke_subgraph_infer(subgraph: _Function, *operands: Any) -> Any:
    """The subgraph called: nothing is traced that would keep it apart."""
    return invoke_subgraph_dense(subgraph, None, *operands)


def invoke_subgraph_placeholder(func: _Function, *args: Any, **kwargs: Any) -> Any:
    """The function called, which a compiler would make a subgraph of."""
    return func(*args, **kwargs)


def mark_compile_region(
    fn: _Function | None = None,
    options: Any = None,
    max_reuse_entries: int = 8,
    reuse_hash_fn: _Function | None = None,
) -> Any:
    """A decorator for functions that a compiler may compile once; calls are what they were.

    The arguments behind `fn` are kept on the function, under PyTorch's names.
    """

    def mark(func: Any) -> _Function:
        innermost = func
        while hasattr(innermost, "__marked_compile_region_fn__"):
            innermost = innermost.__marked_compile_region_fn__

        def inner(*args: Any, **kwargs: Any) -> Any:
            return invoke_subgraph_placeholder(innermost, *args, **kwargs)

        inner.__marked_compile_region_fn__ = func  # type: ignore[attr-defined]
        func.__marked_compile_region_config__ = options
        func.__marked_compile_region_max_reuse_entries__ = max_reuse_entries
        func.__marked_compile_region_reuse_hash_fn__ = reuse_hash_fn
        return inner

    return mark if fn is None else mark(fn)
