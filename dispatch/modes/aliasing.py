"""Results that alias as an operator's schema says (torch.utils._python_dispatch).

What a `__torch_dispatch__` handler of a class that wraps other tensors does with the results of
calling the operator on what is inside. Nothing here dispatches but the one call that updates a
wrapper's own metadata.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dispatch._C.guards import _DisableTorchDispatch, _PreserveDispatchKeyGuard
from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _set_meta_in_tls_dispatch_include
from dispatch._C.wrapper import share_storage
from dispatch.modes.subclasses import is_traceable_wrapper_subclass_type

__all__ = [
    "AliasInfo",
    "SchemaInfo",
    "_correct_storage_aliasing",
    "get_alias_info",
    "return_and_correct_aliasing",
]


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
