"""Which operators have side effects: FunctionalTensorMode asks.

It is declared in the registry (`Library._register_effectful_op`, `register_effect` of a custom
operator). The call itself is the higher-order operator `with_effects`.
"""

from typing import Any

from dispatch._C.overload import OpOverload
from dispatch._ops import HigherOrderOperator
from dispatch.registry.effects import EffectType
from dispatch.registry.entries import singleton
from dispatch.registry.handles import RegistrationHandle

__all__ = [
    "_get_effect",
    "_register_effectful_op",
    "has_aliasing",
    "has_effects",
]


def _qualified_name(op: Any) -> str:
    if isinstance(op, OpOverload):
        return op.name()
    if isinstance(op, HigherOrderOperator):
        return f"{op.namespace}::{op.name()}"
    name = getattr(op, "_qualname", op)
    if isinstance(name, str):
        return name
    raise ValueError(f"expected an operator or its name, got {op!r}")


def _register_effectful_op(op: Any, effect: EffectType | None) -> RegistrationHandle:
    """Declare an operator's effect, until the handle is destroyed.

    Args:
        op: an overload, a higher-order operator, a custom operator, or a qualified name.
    """
    return singleton.find(_qualified_name(op)).effect.register(effect)


def _get_effect(op: Any) -> EffectType | None:
    return singleton.find(_qualified_name(op)).effect.effect


def has_aliasing(op: OpOverload | HigherOrderOperator) -> bool:
    """Whether the schema says that an argument is written or returned."""
    if isinstance(op, HigherOrderOperator):
        return False
    schema = op._schema
    return any(a.alias_info is not None for a in (*schema.arguments, *schema.returns))


def has_effects(op: Any) -> bool:
    """Whether an operator was declared to have an effect, and can be chained."""
    kinds = (OpOverload, HigherOrderOperator)
    return isinstance(op, kinds) and _get_effect(op) is not None and not has_aliasing(op)


_register_effectful_op("aten::_print", EffectType.ORDERED)
