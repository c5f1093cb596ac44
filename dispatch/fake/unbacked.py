"""Results that depend on values, as unbacked symbols (torch._subclasses.fake_impls).

Called by `propagate` for a call whose value or output size nobody knows, when the mode has a
ShapeEnv. A symbol is remembered by the tensor that it tells of (`number_memos`), so that asking
twice gives the same one. Every function here counts in `mode.unbacked_made`, which keeps such
calls out of the cache.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._ops import ops
from dispatch.fake.exceptions import DataDependentOutputException, DynamicOutputShapeException
from dispatch.symbolic import SymInt, _constrain_range_for_size

__all__ = ["new_size", "unbacked_result"]

Implementation = Callable[..., Any]
_LARGEST = sys.maxsize - 1


def new_size(mode: Any, *, min: int | None = None, max: int | None = None) -> Any:
    """A fresh unbacked size within a range."""
    mode.unbacked_made += 1
    made = mode.shape_env.create_unbacked_symint()
    _constrain_range_for_size(made, min=min, max=max)
    return made


def unbacked_result(mode: Any, op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What the call gives; NotImplemented when `op` has no rule here.

    Raises: DynamicOutputShapeException, DataDependentOutputException: the mode or its ShapeEnv
    does not allow unbacked symbols.
    """
    rule = _RULES.get(op.name())
    if rule is None:
        return NotImplemented
    with mode:
        return rule(mode, op, *args, **kwargs)


def _need_sizes(mode: Any, op: Any) -> None:
    if not mode.shape_env.allow_dynamic_output_shape_ops:
        raise DynamicOutputShapeException(op)


def _need_scalars(mode: Any, op: Any) -> None:
    if not mode.shape_env.allow_scalar_outputs and not mode.allow_scalar_outputs:
        raise DataDependentOutputException(op)


def _most(number: Any) -> int:
    """The largest value that a size may have."""
    if not isinstance(number, SymInt):
        return int(number)
    upper = number.node.shape_env.bound_sympy(number.node.expr).upper
    try:
        return min(int(upper), _LARGEST)
    except (OverflowError, TypeError, ValueError, AttributeError):
        return _LARGEST


def _item(mode: Any, op: Any, arg: Any) -> Any:
    """A number that nobody asked for before: `propagate` gives out the one that `arg` remembers."""
    _need_scalars(mode, op)
    mode.unbacked_made += 1
    env, dtype = mode.shape_env, arg.dtype
    if dtype == dtypes.bool:
        made = env.create_unbacked_symbool()
    elif dtype.is_floating_point:
        made = env.create_unbacked_symfloat()
    elif dtype.is_complex:
        raise NotImplementedError(f"{op.name()}: there are no symbols for {dtype}")
    else:
        made = env.create_unbacked_symint()
    arg.item_memo = made
    return made


def _count_of(mode: Any, arg: Any, memo: str, numel: Any) -> Any:
    """How many elements are found in `arg`; `memo` is what it remembers that by, or empty."""
    known = getattr(arg, memo) if memo else None
    if known is None:
        none = not isinstance(numel, SymInt) and numel == 0
        known = 0 if none else new_size(mode, max=_most(numel))
        if memo:
            setattr(arg, memo, known)
    return known


def _nonzero(mode: Any, op: Any, arg: Any) -> Any:
    _need_sizes(mode, op)
    count = _count_of(mode, arg, "nonzero_memo", arg.numel())
    return arg.new_empty_strided((count, arg.dim()), (1, count), dtype=dtypes.int64)


def _pack_padded_sequence(
    mode: Any, op: Any, input: Any, lengths: Any, batch_first: bool
) -> tuple[Any, Any]:
    """As in PyTorch, the sizes of one step stand for those of the data."""
    _need_sizes(mode, op)
    count = new_size(mode)
    steps = input.transpose(0, 1) if not batch_first else input
    return input.new_empty(steps.shape[1:]), input.new_empty((count,))


def _masked_select(mode: Any, op: Any, self: Any, mask: Any) -> Any:
    _need_sizes(mode, op)
    most = _most(self.numel())
    return self.new_empty((new_size(mode, max=most if most > 2 else _LARGEST),))


def _found(
    mode: Any, op: Any, arg: Any, dim: int | None, inverse: bool, counts: bool, memo: str
) -> tuple[Any, ...]:
    _need_sizes(mode, op)
    if dim is None:
        count = _count_of(mode, arg, memo, arg.numel())
        sizes = [count]
    else:
        dim = dim % max(arg.dim(), 1)
        count = _count_of(mode, arg, "", arg.size(dim))
        sizes = [*arg.shape[:dim], count, *arg.shape[dim + 1 :]]
    always = dim is not None and arg.fake_device.type == "cpu"
    places = arg.shape if dim is None else (arg.shape[dim],)
    return (
        arg.new_empty(sizes),
        arg.new_empty(places if inverse or always else (0,), dtype=dtypes.int64),
        arg.new_empty((count,) if counts or always else (0,), dtype=dtypes.int64),
    )


def _unique2(
    mode: Any, op: Any, self: Any, sorted: bool = True, return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:  # fmt: skip
    return _found(mode, op, self, None, return_inverse, return_counts, "unique_memo")


def _unique(
    mode: Any, op: Any, self: Any, sorted: bool = True, return_inverse: bool = False
) -> Any:
    return _found(mode, op, self, None, return_inverse, False, "unique_memo")[:2]


def _unique_dim(
    mode: Any, op: Any, self: Any, dim: int, sorted: bool = True, return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:  # fmt: skip
    return _found(mode, op, self, dim, return_inverse, return_counts, "")


def _unique_consecutive(
    mode: Any, op: Any, self: Any, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    memo = "unique_consecutive_memo"
    return _found(mode, op, self, dim, return_inverse, return_counts, memo)


def _repeat_interleave(mode: Any, op: Any, repeats: Any, output_size: Any = None) -> Any:
    if output_size is None:
        _need_sizes(mode, op)
        output_size = new_size(mode)
    return repeats.new_empty((output_size,))


def _bincount(mode: Any, op: Any, self: Any, weights: Any = None, minlength: Any = 0) -> Any:
    _need_sizes(mode, op)
    size = new_size(mode, min=minlength if isinstance(minlength, int) else None)
    if weights is None:
        return self.new_empty((size,), dtype=dtypes.int64)
    kind = dtypes.float32 if weights.dtype == dtypes.float32 else dtypes.float64
    return self.new_empty((size,), dtype=kind)


def _index(mode: Any, op: Any, self: Any, indices: Sequence[Any]) -> Any:
    """Masks are the places of their true elements."""
    _need_sizes(mode, op)
    places: list[Any] = []
    for index in indices:
        if index is None or index.dtype not in (dtypes.bool, dtypes.uint8):
            places.append(index)
            continue
        _check_mask(op, self, index, len(places))
        found = index.nonzero()
        places += [found.select(1, j) for j in range(index.dim())]
    return ops.aten.index.Tensor(self, places)


def _check_mask(op: Any, self: Any, mask: Any, first: int) -> None:
    for i in range(mask.dim()):
        if first + i >= self.dim() or mask.shape[i] != self.shape[first + i]:
            raise IndexError(
                f"{op.name()}: a mask of sizes {list(mask.shape)} does not fit a tensor of sizes "
                f"{list(self.shape)} at dimension {first}"
            )


def _padded_dense_to_jagged(
    mode: Any, op: Any, dense: Any, offsets: Sequence[Any], total_L: Any = None
) -> Any:
    if len(offsets) != 1:
        raise AssertionError(f"{op.name()}: expected one tensor of offsets, got {len(offsets)}")
    if total_L is None:
        _need_sizes(mode, op)
        total_L = new_size(mode, min=0, max=_most(dense.numel()))
    return dense.new_empty((total_L, *dense.shape[2:]))


_RULES: dict[str, Implementation] = {
    "aten::_local_scalar_dense": _item,
    "aten::_pack_padded_sequence": _pack_padded_sequence,
    "aten::_padded_dense_to_jagged_forward": _padded_dense_to_jagged,
    "aten::_unique": _unique,
    "aten::_unique2": _unique2,
    "aten::bincount": _bincount,
    "aten::index.Tensor": _index,
    "aten::item": _item,
    "aten::masked_select": _masked_select,
    "aten::nonzero": _nonzero,
    "aten::repeat_interleave.Tensor": _repeat_interleave,
    "aten::unique_consecutive": _unique_consecutive,
    "aten::unique_dim": _unique_dim,
}
