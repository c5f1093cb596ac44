"""`auto_functionalized`: an operator that writes, as one that returns what it would have written.

(torch._higher_order_ops.auto_functionalize.) The written arguments are cloned, the operator runs
on the clones, and the clones are returned behind its results.
"""

from typing import Any

from dispatch._C.keys import DispatchKey
from dispatch._C.overload import OpOverload
from dispatch._higher_order_ops.rules import serve_fake
from dispatch._ops import HigherOrderOperator, ops
from dispatch.functional.custom import can_auto_functionalize, written_arguments

__all__ = ["AutoFunctionalized", "auto_functionalized"]

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
