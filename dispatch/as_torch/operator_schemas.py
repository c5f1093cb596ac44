"""Arguments of a call by their names, defaults filled in (torch.fx.operator_schemas).

Of an operator by its schemas, of a Python function by its signature; `self` is called `input`, as
PyTorch's functions call it.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from dispatch._C.function import OpFunction
from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._ops import ops

__all__ = ["ArgsKwargsPair", "get_signature_for_torch_op", "normalize_function"]

_RENAMED = {"self": "input", "from": "from_"}


class ArgsKwargsPair(NamedTuple):
    """What `normalize_function` gives."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _signature(overload: OpOverload) -> inspect.Signature:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = []
    for argument in overload._schema.arguments:
        default: object = inspect.Parameter.empty
        if argument.has_default_value():
            default = argument.default_value
        name = _RENAMED.get(argument.name, argument.name)
        kind = kinds[argument.kwarg_only]
        parameters.append(inspect.Parameter(name, kind, default=default))
    # A default may stand in front of an argument without one; `bind` does not mind.
    return inspect.Signature(parameters, __validate_parameters__=False)


def get_signature_for_torch_op(op: Any) -> list[inspect.Signature] | None:
    """A signature for each overload of an operator or of a function over one; None for others."""
    if isinstance(op, OpOverload):
        return [_signature(op)]
    if isinstance(op, OpFunction):
        op = getattr(ops.aten, op.__name__, None)
    if not isinstance(op, OpOverloadPacket):
        return None
    return [_signature(getattr(op, name)) for name in op.overloads()]


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call in the order of the signature, with defaults.

    Args:
        arg_types, kwarg_types: not looked at: of several overloads that fit none is chosen.
        normalize_to_only_use_kwargs: all of them by name.

    Returns:
        None where no signature fits, or several do.
    """
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        signatures = [inspect.signature(inspect.unwrap(target))]
    fitting = []
    for signature in signatures:
        try:
            fitting.append(signature.bind(*args, **(kwargs or {})))
        except TypeError:
            continue
    if len(fitting) != 1:
        return None
    (bound,) = fitting
    bound.apply_defaults()
    values = list(bound.arguments.items())
    positional = 0 if normalize_to_only_use_kwargs else len(args)
    return ArgsKwargsPair(
        tuple(value for _, value in values[:positional]), dict(values[positional:])
    )
