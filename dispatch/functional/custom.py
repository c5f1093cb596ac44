"""Operators of programs that write, under FunctionalTensorMode (auto functionalization).

The mode asks here before it redispatches. Such an operator runs as `auto_functionalized`, on clones
of what it writes; the clones then become the values of the written functional tensors, and so reach
their aliases.
"""

from typing import Any

from dispatch import _C, pytree
from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.functional.tensor import FunctionalTensor
from dispatch.modes import TorchDispatchMode
from dispatch.registry import schemas

__all__ = ["can_auto_functionalize", "do_auto_functionalize", "written_arguments"]


def written_arguments(op: OpOverload) -> list[Any]:
    """The arguments that the schema says are written."""
    return [a for a in op._schema.arguments if a.is_write]


def can_auto_functionalize(op: Any) -> bool:
    """Whether an operator is a program's own, writes tensors only and returns no views."""
    if not isinstance(op, OpOverload) or schemas.is_builtin(op) or not op._schema.is_mutable:
        return False
    kinds = (schemas.is_tensor_like_type, schemas.is_tensorlist_like_type)
    if not all(any(is_kind(a.type) for is_kind in kinds) for a in written_arguments(op)):
        return False
    returns = op._schema.returns
    if len(returns) == 1 and returns[0].type.kind() == "NoneType":
        return True
    fresh = all(r.alias_info is None and r.type.kind() == "TensorType" for r in returns)
    if not (fresh or schemas.is_out(op) or schemas.is_inplace(op)):
        return False
    return not _C._dispatch_has_kernel_for_dispatch_key(op.name(), "Functionalize")


def do_auto_functionalize(
    mode: TorchDispatchMode, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call the operator by keyword as `auto_functionalized`, and write back what it wrote."""
    given = dict(kwargs)
    for argument, value in zip(op._schema.arguments, args, strict=False):
        given[argument.name] = value
    for argument in op._schema.arguments:
        given.setdefault(argument.name, argument.default_value)
    values = pytree.tree_map_only(FunctionalTensor, FunctionalTensor.from_functional, given)
    outs = ops.higher_order.auto_functionalized(op, **values)
    written = written_arguments(op)
    for argument, value in zip(written, outs[-len(written) :], strict=True):
        _write_back(given[argument.name], value)
    if schemas.is_out(op) or schemas.is_inplace(op):
        back = [given[a.name] for a in written]
        return back[0] if len(op._schema.returns) == 1 else tuple(back)
    with mode:
        results = pytree.tree_map_only(
            Tensor, FunctionalTensor.to_functional, outs[: -len(written)]
        )
    return results[0] if len(op._schema.returns) < 2 else results


def _write_back(target: Any, value: Any) -> None:
    if isinstance(target, (list, tuple)):
        for t, v in zip(target, value, strict=True):
            _write_back(t, v)
    elif isinstance(target, FunctionalTensor):
        target.replace_(value)
        target.commit_update()
        target.sync()
