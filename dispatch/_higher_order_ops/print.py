"""`print`: a text with values in it, where graphs keep the call (torch._higher_order_ops.print).

On fake tensors it prints nothing: there are no values.
"""

import builtins
from typing import Any, cast

from dispatch._C.keys import DispatchKey
from dispatch._higher_order_ops.effects import (
    _EffectType,
    _register_effectful_op,
    handle_effects,
)  # fmt: skip
from dispatch._higher_order_ops.rules import register_fake
from dispatch._ops import HigherOrderOperator

__all__ = ["Print", "print"]


class Print(HigherOrderOperator):
    """`dispatch.ops.higher_order.print(format_str, *args, **kwargs)`."""

    def __init__(self) -> None:
        super().__init__("print")

    def __call__(self, format_str: str, *args: Any, **kwargs: Any) -> None:
        """Print `format_str.format(*args, **kwargs)`. AssertionError: it is no string."""
        if not isinstance(format_str, str):
            raise AssertionError(f"format_str must be a string, got {type(format_str)}")
        super().__call__(format_str, *args, **kwargs)


print = Print()


@print.py_impl(DispatchKey.CompositeExplicitAutograd)
def print_dense(format_str: str, *args: Any, **kwargs: Any) -> None:
    """Print it."""
    builtins.print(format_str.format(*args, **kwargs))


_register_effectful_op(print, _EffectType.ORDERED)  # calls stay, and in their order
for _key in (DispatchKey.AutogradCPU, DispatchKey.AutogradCUDA):
    print.fallthrough(_key)


@register_fake(print, skip_cache=True)
def print_fake(format_str: str, *args: Any, **kwargs: Any) -> None:
    """Nothing."""


@print.py_functionalize_impl
def print_functional(ctx: Any, format_str: str, *args: Any, **kwargs: Any) -> Any:
    """The call in the order of effects."""
    mode, op = ctx.mode, cast(Any, print)
    given = (format_str, *args)
    return handle_effects(mode._allow_token_discovery, mode._tokens, op, given, kwargs)
