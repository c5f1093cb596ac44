"""Wrapper subclasses: taking them apart, and results that alias as an operator's schema says.

What a `__torch_dispatch__` handler of a class that wraps other tensors needs beyond calling the
operator on what is inside (torch.utils._python_dispatch). Nothing here dispatches but the one
call that updates a wrapper's own metadata.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

from dispatch._C.guards import _DisableTorchDispatch, _PreserveDispatchKeyGuard
from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _set_meta_in_tls_dispatch_include
from dispatch._C.wrapper import share_storage

__all__ = [
    "AliasInfo",
    "SchemaInfo",
    "TraceableWrapperSubclass",
    "_correct_storage_aliasing",
    "get_alias_info",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


# ---- taking wrappers apart


@runtime_checkable
class TraceableWrapperSubclass(Protocol):
    """A tensor subclass that can be taken apart into inner tensors and put together again."""

    def __tensor_flatten__(self) -> tuple[Sequence[str], object]:
        """Names of the attributes that hold tensors, and whatever else makes the instance."""
        ...

    @staticmethod
    def __tensor_unflatten__(
        inner_tensors: dict[str, Tensor], flatten_spec: Any, outer_size: Any, outer_stride: Any
    ) -> Any:
        """The instance of these parts."""
        ...


def _can_be_taken_apart(t: object) -> bool:
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: object) -> TypeGuard[TraceableWrapperSubclass]:
    """Whether `t` is an instance of a Tensor subclass with both methods of the protocol."""
    return isinstance(t, Tensor) and type(t) is not Tensor and _can_be_taken_apart(t)


def is_traceable_wrapper_subclass_type(t: type) -> TypeGuard[type[TraceableWrapperSubclass]]:
    """The same of a class. TypeError when `t` is none."""
    return issubclass(t, Tensor) and t is not Tensor and _can_be_taken_apart(t)


def transform_subclass(
    t: Any,
    callback: Callable[[str, Tensor], Tensor],
    outer_size: Any = None,
    outer_stride: Any = None,
) -> Any:
    """`t` put together again of what `callback(name, inner tensor)` gives for each part.

    AssertionError when the new instance does not have the size and stride that were asked for
    (those of `t` when they are None).
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(parts, context, size, stride)
    for what, wanted, found in (("size", size, made.shape), ("stride", stride, made.stride())):
        if found != wanted:
            raise AssertionError(
                f"{type(t).__name__}.__tensor_unflatten__: expected {what} {wanted}, got {found}"
            )
    return made


# ---- what a schema says of aliases


@dataclass
class AliasInfo:
    """One argument or return: its alias set, whether it is written, its name."""

    alias_set: set[str]
    is_write: bool
    name: str | None


@dataclass
class SchemaInfo:
    """All of them, and what follows for an operator's results."""

    args: list[AliasInfo]
    outs: list[AliasInfo]
    is_inplace_view_op: bool
    outs_write_aliases: list[str] | None
    read_only_alias_match_indexes: list[tuple[int, int]]


def _sets(alias: Any) -> set[str]:
    """The alias sets of a value; those of a list's elements count as the list's."""
    contained = alias.contained
    return alias.before_set | (contained.before_set if contained is not None else set())


def _alias_infos(values: Sequence[Any]) -> list[AliasInfo]:
    infos = []
    for value in values:
        alias = value.alias_info
        if alias is None:
            infos.append(AliasInfo(set(), False, value.name or None))
        else:
            infos.append(AliasInfo(_sets(alias), alias.is_write, value.name or None))
    return infos


def _written_alias(info: AliasInfo) -> str | None:
    if not info.alias_set or not info.is_write:
        return None
    if len(info.alias_set) != 1:
        raise AssertionError(f"an output with one alias set was expected, got {info.alias_set}")
    return next(iter(info.alias_set))


@functools.cache
def get_alias_info(func: OpOverload) -> SchemaInfo:
    """What the schema of `func` says of aliases; computed once for each operator.

    RuntimeError for a schema in which some results are written arguments and others are not.
    """
    schema = func._schema
    args, outs = _alias_infos(schema.arguments), _alias_infos(schema.returns)
    views = [
        (i, k)
        for i, arg in enumerate(args)
        for k, out in enumerate(outs)
        if arg.alias_set & out.alias_set and not arg.is_write
    ]
    aliases = [alias for out in outs if (alias := _written_alias(out)) is not None]
    if aliases and len(aliases) != len(outs):
        raise RuntimeError(f"Unsupported schema, only some results are written: {schema}")
    return SchemaInfo(args, outs, Tag.inplace_view in func.tags, aliases or None, views)


# ---- results that alias


def _correct_storage_aliasing(
    func: OpOverload, schema_info: SchemaInfo, args: tuple[Any, ...], outs: Any
) -> None:
    """Give each result that views an argument the argument's storage; its geometry stays.

    AssertionError: a wrapper whose result is of another class, or something else than an operator,
    a tuple of arguments and a list or tuple of results.
    """
    if not isinstance(func, OpOverload):
        raise AssertionError(f"func must be an OpOverload, got {type(func)}")
    if not isinstance(args, tuple):
        raise AssertionError(f"args must be a tuple, got {type(args)}")
    if not isinstance(outs, (list, tuple)):
        raise AssertionError(f"outs must be a list or tuple, got {type(outs)}")
    for i, k in schema_info.read_only_alias_match_indexes:
        results = outs[k] if isinstance(outs[k], list) else [outs[k]]
        _check_classes(func, args[i], outs[k], results)
        for result in results:
            if not isinstance(result, Tensor):
                raise AssertionError(f"{func}: expected a tensor, got {type(result)}")
            share_storage(result, args[i])


def _check_classes(func: OpOverload, arg: Any, out: Any, results: list[Any]) -> None:
    """A wrapper's view is of the wrapper's class."""
    if type(arg) is type(out):
        return
    if is_traceable_wrapper_subclass_type(type(arg)) or is_traceable_wrapper_subclass_type(
        type(out)
    ):
        for result in results:
            if type(result) is not type(arg):
                raise AssertionError(
                    f"{func}: the argument is a {type(arg)}, the result must be one too, "
                    f"got {type(result)}"
                )


def _argument(
    func: OpOverload, info: SchemaInfo, alias: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The argument that the schema gives this alias set."""
    found = [i for i, arg in enumerate(info.args) if alias in arg.alias_set]
    if len(found) != 1:
        raise AssertionError(f"{func}: expected one argument of the alias set {alias!r}")
    name = info.args[found[0]].name
    return kwargs[name] if name in kwargs else args[found[0]]


def _update_wrapper(
    func: OpOverload, info: SchemaInfo, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """An operator that changes metadata in place runs on the wrapper itself, by shape only."""
    written = [x for x, arg in zip(args, info.args, strict=False) if _written_alias(arg)]
    if len(written) != 1:
        raise AssertionError(f"{func}: expected exactly one argument that is written")
    with _PreserveDispatchKeyGuard(), _DisableTorchDispatch():
        _set_meta_in_tls_dispatch_include(True)
        func(*args, **kwargs)


def return_and_correct_aliasing(
    func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any] | None, out: Any
) -> Any:
    """What a wrapper's handler returns, aliasing as the operator's schema says.

    Views get the storage of the wrapper that they view; an operator that writes an argument gives
    back that very argument; one that changes an argument's shape in place changes the wrapper's.
    """
    info = get_alias_info(func)
    given = kwargs or {}
    _correct_storage_aliasing(func, info, args, out if isinstance(out, tuple) else (out,))
    if info.is_inplace_view_op:
        _update_wrapper(func, info, args, given)
    if info.outs_write_aliases is None:
        return out
    written = [_argument(func, info, alias, args, given) for alias in info.outs_write_aliases]
    return written[0] if len(written) == 1 else type(out)(written)
