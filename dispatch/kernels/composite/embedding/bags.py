"""Sums, means and maxima of bags of rows, written with operators.

Called for tensors of all kinds. Without a gradient nobody needs what the backward pass would:
`_embedding_bag_forward_only` leaves some of it out.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["embedding_bag", "embedding_bag_backward", "embedding_bag_padding"]

_aten = ops.aten
_Results = tuple[Tensor, Tensor, Tensor, Tensor]
_INDEX = (dtypes.int64, dtypes.int32)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
) -> _Results:
    """No row is padding."""
    return embedding_bag_padding(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        None,
    )


def embedding_bag_padding(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> _Results:
    """The row `padding_idx` counts for nothing."""
    padding = -1
    if padding_idx is not None:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise refused(f"expected padding_idx to be one of {rows} rows, got {padding_idx}")
        padding = rules.wrap_dim(padding_idx, rows)
    call = _aten._embedding_bag if weight.requires_grad else _aten._embedding_bag_forward_only
    results: _Results = call(
        weight,
        _aten.contiguous(indices),
        _aten.contiguous(offsets),
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding,
    )
    return results


def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """The gradient of the table; the bag of each index is worked out if it was not noted."""
    for name, given in (("indices", indices), ("offsets", offsets)):
        if given.dtype not in _INDEX:
            raise refused(f"expected {name} to have dtype int32 or int64, got {given.dtype}")
    kind = rules.promote_types(indices.dtype, offsets.dtype)
    indices, offsets = (t if t.dtype is kind else t.to(kind) for t in (indices, offsets))
    if indices.numel() and not offset2bag.numel():
        offset2bag = _bag_of_each(offsets, indices.shape[0])
    shared = (num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    result: Tensor
    if sparse:
        backward = _aten._embedding_bag_sparse_backward
        result = backward(grad, indices, offsets, offset2bag, bag_size, *shared)
    else:
        result = _aten._embedding_bag_dense_backward(
            grad, indices, offset2bag, bag_size, maximum_indices, *shared
        )
    return result


def _bag_of_each(offsets: Tensor, count: int) -> Tensor:
    """How many bags have begun at each index, less one."""
    marks = _aten.zeros([count + 1], dtype=offsets.dtype, device=offsets.device)
    marks = _aten.index_add(marks, 0, offsets, _aten.ones_like(offsets))
    begun = _aten.sub.Scalar(_aten.cumsum(marks, 0, dtype=offsets.dtype), 1)
    return _aten.slice.Tensor(begun, 0, 0, count)
