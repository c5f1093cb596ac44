"""`with_effects`: an operator with a side effect, its order kept by a token (torch's effects).

Calls of one kind of effect are chained: each takes the token that the one before gave, so that a
program whose values do not depend on each other keeps their order. A token is an empty tensor.
FunctionalTensorMode runs operators with effects through here; which operators have one is declared
by `_register_effectful_op`.
"""

from typing import Any

from dispatch._C.keys import DispatchKey
from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.rules import serve_fake
from dispatch._ops import HigherOrderOperator, ops
from dispatch.functional.api import PythonFunctionalizeAPI
from dispatch.functional.effects import (
    _get_effect,
    _register_effectful_op,
    has_aliasing,
    has_effects,
)
from dispatch.registry.effects import EffectType

__all__ = [
    "EffectType",
    "WithEffects",
    "_EffectType",
    "_get_effect",
    "_register_effectful_op",
    "handle_effects",
    "has_aliasing",
    "has_effects",
    "new_token_tensor",
    "with_effects",
]

_EffectType = EffectType
_aten = ops.aten


class WithEffects(HigherOrderOperator):
    """`dispatch.ops.higher_order.with_effects(token, op, *args, **kwargs)`."""

    def __init__(self) -> None:
        super().__init__("with_effects")

    def __call__(
        self, token: Tensor, op: OpOverload | HigherOrderOperator, *args: Any, **kwargs: Any
    ) -> tuple[Any, ...]:
        """The new token, then what the operator returns (a tuple's elements, anything else whole).

        Raises:
            AssertionError: `op` is no operator, or writes or returns its arguments.
        """
        if not isinstance(op, (OpOverload, HigherOrderOperator)):
            raise AssertionError(f"with_effects: expected an operator, got {type(op).__name__}")
        if has_aliasing(op):
            raise AssertionError(f"Ops with aliasing is not supported: {op}")
        result: tuple[Any, ...] = super().__call__(token, op, *args, **kwargs)
        return result

    @staticmethod
    def handle(
        allow_token_discovery: bool,
        tokens: dict[EffectType, Tensor],
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run `op` behind the last call of its kind of effect, and enter its token.

        Args:
            allow_token_discovery: make the first token of an effect here; else AssertionError.
            tokens: effect -> the token of the last call; written.
        """
        effect = _get_effect(op)
        if effect is None:
            raise AssertionError(f"{op}: no effect was declared")
        if effect not in tokens:
            if not allow_token_discovery:
                raise AssertionError(f"{op}: there is no token for its effect {effect}")
            tokens[effect] = new_token_tensor()
        ctx = PythonFunctionalizeAPI()
        token, plain, named = ctx.unwrap_tensors([tokens[effect], list(args), dict(kwargs)])
        with ctx.redispatch_to_next():
            made, *outs = with_effects(token, op, *plain, **named)
        tokens[effect] = ctx.wrap_tensors(made)
        return ctx.wrap_tensors(_in_schema(op, outs))


def new_token_tensor() -> Tensor:
    """An empty tensor: what depends on a call without using its values."""
    return _aten.empty.memory_format([0])


def _in_schema(op: OpOverload, outs: list[Any]) -> Any:
    """What came behind the token, as the operator returns it."""
    returns = len(op._schema.returns)
    if returns == 0 and outs != [None]:
        raise AssertionError(f"{op}: expected no results, got {outs}")
    if returns and len(outs) != returns:
        raise AssertionError(f"{op}: expected {returns} results, got {len(outs)}")
    return None if returns == 0 else outs[0] if returns == 1 else tuple(outs)


with_effects = WithEffects()
handle_effects = with_effects.handle


@with_effects.py_impl(DispatchKey.CompositeExplicitAutograd)
def with_effects_dense(token: Tensor, op: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Run it; the token is new."""
    out = op(*args, **kwargs)
    return (new_token_tensor(), *(out if isinstance(out, tuple) else (out,)))


serve_fake(with_effects)(with_effects_dense)
with_effects.fallthrough(DispatchKey.AutogradCPU)
with_effects.fallthrough(DispatchKey.AutogradCUDA)


@with_effects.py_functionalize_impl
def with_effects_functional(
    ctx: Any, token: Tensor, op: Any, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """It writes nothing: it runs on the values."""
    plain_token, plain, named = ctx.unwrap_tensors([token, args, kwargs])
    with ctx.redispatch_to_next():
        result = with_effects(plain_token, op, *plain, **named)
    wrapped: tuple[Any, ...] = ctx.wrap_tensors(result)
    return wrapped
