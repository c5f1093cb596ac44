"""`auto_functionalized`: an operator that writes, as one that returns what it would have written.

(torch._higher_order_ops.auto_functionalize.) The written arguments are cloned, the operator runs
on the clones, and the clones are returned behind its results. `auto_functionalized_v2` gets the
bases of the written arguments (`_all_bases`), clones each once, and makes the arguments again as
views of the clones, from what its keywords say of each: `_x_base_index` alone (x is the base), or
beside `_x_alias`, `_x_slice_dim/start/end`, or `_x_size/stride/storage_offset`; of a list
`_x_length`, and `_x_0_base_index` and so on. An operator with out arguments has no bases: these are
made of `_x_size/stride/dtype/device`.
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C.keys import DispatchKey
from dispatch._C.overload import OpOverload
from dispatch._higher_order_ops.rules import serve_fake
from dispatch._ops import HigherOrderOperator, ops
from dispatch.functional.custom import can_auto_functionalize, written_arguments
from dispatch.registry import schemas

__all__ = [
    "AutoFunctionalized",
    "AutoFunctionalizedV2",
    "auto_functionalized",
    "auto_functionalized_v2",
]

_aten = ops.aten


class AutoFunctionalized(HigherOrderOperator):
    """`dispatch.ops.higher_order.auto_functionalized(op, **kwargs)`."""

    def __init__(self) -> None:
        super().__init__("auto_functionalized", cacheable=True)

    def __call__(self, /, _mutable_op: OpOverload, **kwargs: Any) -> tuple[Any, ...]:
        """The results, then the written clones. AssertionError: an operator that cannot be."""
        if not can_auto_functionalize(_mutable_op):
            raise AssertionError(f"auto_functionalized: {_mutable_op} cannot be functionalized so")
        made: tuple[Any, ...] = super().__call__(_mutable_op, **kwargs)
        return made


auto_functionalized = AutoFunctionalized()
for _key in (DispatchKey.AutogradCPU, DispatchKey.AutogradCUDA):
    auto_functionalized.fallthrough(_key)


def _cloned(value: Any) -> Any:
    if isinstance(value, list):
        return [_cloned(v) for v in value]
    if value is None:
        return None
    reach = sum((n - 1) * step for n, step in zip(value.shape, value.stride(), strict=True)) + 1
    whole = _aten.as_strided.default(value, [reach if value.numel() else 0], [1])
    return _aten.as_strided.default(_aten.clone.default(whole), value.shape, value.stride(), 0)


@auto_functionalized.py_impl(DispatchKey.CompositeExplicitAutograd)
def auto_functionalized_dense(
    _mutable_op: OpOverload, _only_clone_these_tensors: Any = None, **kwargs: Any
) -> tuple[Any, ...]:
    """Run the operator on clones, which keep their strides."""
    names = [a.name for a in written_arguments(_mutable_op)]
    for name in names:
        if _only_clone_these_tensors is None or name in _only_clone_these_tensors:
            kwargs[name] = _cloned(kwargs[name])
    out = _mutable_op(**kwargs)
    results = out if isinstance(out, tuple) else (out,)
    return (*results, *(kwargs[name] for name in names))


serve_fake(auto_functionalized)(auto_functionalized_dense)


@auto_functionalized.py_functionalize_impl
def auto_functionalized_functional(ctx: Any, _mutable_op: OpOverload, **kwargs: Any) -> Any:
    """It writes nothing: it runs on the values."""
    values = ctx.unwrap_tensors(kwargs)
    with ctx.redispatch_to_next():
        return ctx.wrap_tensors(auto_functionalized(_mutable_op, **values))


class AutoFunctionalizedV2(HigherOrderOperator):
    """`dispatch.ops.higher_order.auto_functionalized_v2(op, _all_bases=[...], **kwargs)`."""

    def __init__(self) -> None:
        super().__init__("auto_functionalized_v2", cacheable=True)

    def __call__(self, /, _mutable_op: OpOverload, **kwargs: Any) -> tuple[Any, ...]:
        """The results, then the new bases. AssertionError: an operator that cannot be."""
        if not can_auto_functionalize(_mutable_op):
            raise AssertionError(f"auto_functionalized: {_mutable_op} cannot be functionalized so")
        made: tuple[Any, ...] = super().__call__(_mutable_op, **kwargs)
        return made


auto_functionalized_v2 = AutoFunctionalizedV2()
for _key in (DispatchKey.AutogradCPU, DispatchKey.AutogradCUDA):
    auto_functionalized_v2.fallthrough(_key)


def _again(prefix: str, kwargs: dict[str, Any], bases: Sequence[Any]) -> Any:
    """One written argument as its keywords, which are taken out, say; None for none."""

    def taken(*names: str) -> list[Any]:
        return [kwargs.pop(f"{prefix}_{name}") for name in names]

    (index,) = taken("base_index")
    if index is None:
        return None
    base = bases[index]
    if f"{prefix}_alias" in kwargs:
        taken("alias")
        return _aten.alias.default(base)
    if f"{prefix}_slice_dim" in kwargs:
        return _aten.slice.Tensor(base, *taken("slice_dim", "slice_start", "slice_end"))
    if f"{prefix}_storage_offset" in kwargs:
        return _aten.as_strided.default(base, *taken("size", "stride", "storage_offset"))
    return base


def _argument_again(argument: Any, kwargs: dict[str, Any], bases: Sequence[Any]) -> Any:
    prefix = f"_{argument.name}"
    if not schemas.is_tensorlist_like_type(argument.type):
        return _again(prefix, kwargs, bases)
    length = kwargs.pop(f"{prefix}_length")
    if length is None:
        return None
    return [_again(f"{prefix}_{i}", kwargs, bases) for i in range(length)]


@auto_functionalized_v2.py_impl(DispatchKey.CompositeExplicitAutograd)
def auto_functionalized_v2_dense(
    _mutable_op: OpOverload, _only_clone_these_bases: Any = None, **kwargs: Any
) -> Any:
    """Run the operator on views of clones of the bases."""
    bases = kwargs.pop("_all_bases", [])
    written = written_arguments(_mutable_op)
    if schemas.is_out(_mutable_op):
        for a in written:
            size, stride, dtype, device = (
                kwargs.pop(f"_{a.name}_{what}") for what in ("size", "stride", "dtype", "device")
            )
            kwargs[a.name] = _aten.empty_strided.default(size, stride, dtype=dtype, device=device)
        return _mutable_op(**kwargs)
    chosen = range(len(bases)) if _only_clone_these_bases is None else _only_clone_these_bases
    bases = [_cloned(base) if i in chosen else base for i, base in enumerate(bases)]
    kwargs.update({a.name: _argument_again(a, kwargs, bases) for a in written})
    out = _mutable_op(**kwargs)
    return (*(out if isinstance(out, tuple) else (out,)), *bases)


serve_fake(auto_functionalized_v2)(auto_functionalized_v2_dense)


@auto_functionalized_v2.py_functionalize_impl
def auto_functionalized_v2_functional(ctx: Any, _mutable_op: OpOverload, **kwargs: Any) -> Any:
    """It writes nothing: it runs on the values."""
    values = ctx.unwrap_tensors(kwargs)
    with ctx.redispatch_to_next():
        return ctx.wrap_tensors(auto_functionalized_v2(_mutable_op, **values))
