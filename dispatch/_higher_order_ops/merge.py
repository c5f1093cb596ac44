"""What two branches give, as one: the fake result of `cond` (torch._higher_order_ops.cond).

A size that differs becomes a new symbol between both; all else has to be the same.
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.symbolic import SymInt, statically_known_true

__all__ = ["merge"]

_SAME = ("dtype", "device", "layout", "dim", "is_conj", "storage_offset")


def merge(a: Any, b: Any) -> Any:
    """One value that stands for the results `a` and `b` of two branches.

    Raises:
        RuntimeError: two tensors differ in more than their sizes, or there is no ShapeEnv.
        AssertionError: two values that are neither tensors nor numbers differ.
    """
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return _merged_tensors(a, b)
    if isinstance(a, int | SymInt) and isinstance(b, int | SymInt):
        return _merged_number(a, b)
    if type(a) is not type(b) or a != b:
        raise AssertionError(f"cond: one branch returns {a}, the other {b}")
    return a


def _merged_tensors(a: Tensor, b: Tensor) -> Tensor:
    for name in _SAME:
        mine, theirs = (getattr(t, name) for t in (a, b))
        if callable(mine):
            mine, theirs = mine(), theirs()
        if mine != theirs:
            raise RuntimeError(
                "When merging two branches' output in torch.cond, "
                f"{name}: one branch gives {mine}, the other {theirs}"
            )
    sizes = [_merged_number(n, m) for n, m in zip(a.shape, b.shape, strict=True)]
    if all(n is m for n, m in zip(sizes, a.shape, strict=True)) and _equal(a.stride(), b.stride()):
        return a
    strides = _merged_strides(a, sizes)
    return ops.aten.empty_strided.default(sizes, strides, dtype=a.dtype, device=a.device)


def _merged_number(a: Any, b: Any) -> Any:
    if statically_known_true(a == b):
        return a
    mode = _get_dispatch_mode(_TorchDispatchModeKey.FAKE)
    env = None if mode is None else mode.shape_env
    if env is None:
        raise RuntimeError(
            "When merging two branches' output in torch.cond, sizes that depend on the predicate "
            f"need a ShapeEnv: {a} and {b}"
        )
    found = env.create_unbacked_symint()
    ranges = [env.bound_sympy(n.node.expr if isinstance(n, SymInt) else n) for n in (a, b)]
    low, high = min(r.lower for r in ranges), max(r.upper for r in ranges)
    env._constrain_range(found.node.expr, low, high)
    return found


def _equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(statically_known_true(n == m) for n, m in zip(a, b, strict=True))


def _merged_strides(a: Tensor, sizes: Sequence[Any]) -> list[Any]:
    """Dense strides in the order of `a`'s; 0 stays, and unknown ones count as contiguous."""
    before: tuple[Any, ...] = a.stride()
    order = list(range(len(sizes)))[::-1]
    if all(isinstance(n, int) for n in before):
        order.sort(key=before.__getitem__)
    strides, reach = list(before), 1
    for dim in order:
        if isinstance(before[dim], int) and before[dim] == 0:
            continue
        strides[dim], reach = reach, reach * sizes[dim]
    return strides
