"""Arguments of a call by their names, defaults filled in (torch.fx.operator_schemas).

Of an operator by its schemas, of a Python function by its signature; `self` is called `input`, as
PyTorch's functions call it.
"""

import inspect
import numbers
import types
import typing
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import dispatch
from dispatch._C import naming
from dispatch._C.function import OpFunction
from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._ops import ops
from dispatch.as_torch.nn import modules

__all__ = [
    "ArgsKwargsPair", "check_for_mutable_operation", "create_type_hint",
    "get_signature_for_torch_op", "normalize_function", "normalize_module", "type_matches",
]  # fmt: skip

_TYPES = vars(typing) | {
    "Tensor": dispatch.Tensor,
    "Device": dispatch.device,
    "Layout": dispatch.layout,
    "number": numbers.Number,
    "NoneType": type(None),
    "t": typing.TypeVar("t"),
}


class ArgsKwargsPair(NamedTuple):
    """What `normalize_function` gives."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _type(found: Any) -> Any:
    """The annotation of a schema's type; that of classes which are not here is Any."""
    try:
        return eval(found.annotation_str, dict(_TYPES))
    except NameError:
        return Any


@cache
def _signature(overload: OpOverload) -> inspect.Signature:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters: list[inspect.Parameter] = []
    for argument in overload._schema.arguments:
        default: object = inspect.Parameter.empty
        if argument.has_default_value():
            default = argument.default_value
        name = "input" if argument.name == "self" else argument.name
        kind: Any = kinds[argument.kwarg_only]
        if name == "from":  # no program can write it, so that all until there have places only
            kind = inspect.Parameter.POSITIONAL_ONLY
            parameters = [one.replace(kind=kind) for one in parameters]
        hint = _type(argument.type)
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=hint))
    results = tuple(_type(one.type) for one in overload._schema.returns)
    result: Any = results if len(results) > 1 else results[0] if results else None
    # A default may stand in front of an argument without one; `bind` does not mind.
    return inspect.Signature(parameters, return_annotation=result, __validate_parameters__=False)


def _overloads(op: Any) -> list[OpOverload] | None:
    """Those of an operator or of a function over one; None for others."""
    if isinstance(op, OpOverload):
        return [op]
    if isinstance(op, OpFunction):
        op = getattr(ops.aten, op.__name__, None)
    if not isinstance(op, OpOverloadPacket):
        return None
    return [getattr(op, name) for name in op.overloads()]


def get_signature_for_torch_op(op: Any, return_schemas: bool = False) -> Any:
    """A signature for each overload of an operator or of a function over one; None for others.

    Args:
        return_schemas: give the schemas too, as a pair.
    """
    overloads = _overloads(op)
    if overloads is None:
        return (None, None) if return_schemas else None
    signatures = [_signature(one) for one in overloads]
    return (signatures, [one._schema for one in overloads]) if return_schemas else signatures


def _fits(signature: inspect.Signature, args: Any, kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def check_for_mutable_operation(target: Any, args: Any, kwargs: Any) -> None:
    """Refuse a call of an operator that writes to its arguments, if it is clear which one it is.

    Raises:
        RuntimeError: it writes.
    """
    fitting = [one for one in _overloads(target) or () if _fits(_signature(one), args, kwargs)]
    if len(fitting) == 1 and fitting[0]._schema.is_mutable:
        what = f"Tried to trace mutable operation {fitting[0]._schema}"
        raise RuntimeError(f"{what}: a graph's calls do not write to their arguments")


# ---- types of arguments, which tell overloads apart


def create_type_hint(x: Any) -> Any:
    """`list[T]` for a list of types, `tuple[T, ...]` for a tuple; T is the one all derive from."""
    if not isinstance(x, list | tuple):
        return x
    base: Any = x[0] if x else Any
    try:
        for one in x:
            if not issubclass(one, base):
                base = one if issubclass(base, one) else Any
                if base is Any:
                    break
    except TypeError:
        warnings.warn(f"no type hint for {x}", stacklevel=2)
        return x
    return list[base] if isinstance(x, list) else tuple[base, ...]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether an argument of one type goes where a signature asks for another."""
    if signature_type is argument_type:
        return True
    origin, inner = typing.get_origin(signature_type), typing.get_args(signature_type)
    if origin in (typing.Union, types.UnionType) and signature_type != argument_type:
        return any(type_matches(one, argument_type) for one in inner)
    if origin is list:
        return _matches_list(inner[0], argument_type)
    if signature_type is int and argument_type is dispatch.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    both = inspect.isclass(argument_type) and inspect.isclass(signature_type)
    return both and issubclass(argument_type, signature_type)


def _matches_list(wanted: Any, argument_type: Any) -> bool:
    if argument_type is int and wanted is int:
        return True
    if not inspect.isclass(wanted):
        warnings.warn(f"lists of {wanted} are not compared", stacklevel=3)
        return False
    origin, given = typing.get_origin(argument_type), typing.get_args(argument_type)
    if origin is list:
        return issubclass(given[0], wanted)
    return origin is tuple and all(one is ... or issubclass(one, wanted) for one in given)


# ---- calls


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
        arg_types, kwarg_types: types of the arguments; of several overloads that fit, the first
            that takes these is chosen.
        normalize_to_only_use_kwargs: all of them by name.

    Returns:
        None where no signature fits.

    Raises:
        RuntimeError: several overloads fit, and no types are given.
    """
    kwargs = kwargs or {}
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        if isinstance(target, types.BuiltinFunctionType):
            return None
        signature = inspect.signature(inspect.unwrap(target))
        return _normalized(signature, args, kwargs, normalize_to_only_use_kwargs)
    fitting = [one for one in signatures if _fits(one, args, kwargs)]
    if len(fitting) > 1:
        if arg_types is None and kwarg_types is None:
            found = "\n".join(map(str, fitting))
            what = f"{naming.package_name()}: arguments of {target} fit several overloads"
            raise RuntimeError(f"{what}; give arg_types or kwarg_types. They are:\n{found}")
        given = arg_types or (), kwarg_types or {}
        fitting = [one for one in signatures if _takes(one, *given)][:1]
    if not fitting:
        return None
    return _normalized(fitting[0], args, kwargs, normalize_to_only_use_kwargs)


def _takes(signature: inspect.Signature, arg_types: Any, kwarg_types: Any) -> bool:
    try:
        bound = signature.bind(*arg_types, **kwarg_types)
    except TypeError:
        return False
    wanted = signature.parameters
    return all(
        type_matches(wanted[name].annotation, kind) for name, kind in bound.arguments.items()
    )


def normalize_module(
    root: Any, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """`normalize_function` of the `forward` of a submodule of `root`; None unless from `torch.nn`.

    Raises:
        RuntimeError: `root` has no such submodule.
    """
    try:
        found = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"normalize_module: root has no module {target!r}") from error
    if getattr(modules, type(found).__name__, None) is not type(found):
        return None
    signature = inspect.signature(inspect.unwrap(found.forward))
    return _normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalized(
    signature: inspect.Signature, args: Any, kwargs: Any, by_name: bool
) -> ArgsKwargsPair | None:
    """None where the signature has `*args`, `**kwargs`, or arguments without a name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = list(signature.parameters)
    unnamed = any(one.kind not in kinds for one in signature.parameters.values())
    if unnamed and names != ["input", "from", "to", "generator"]:
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = list(bound.arguments.items())
    positional = 0 if by_name else len(args)
    return ArgsKwargsPair(
        tuple(value for _, value in values[:positional]), dict(values[positional:])
    )
