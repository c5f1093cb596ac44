"""Jagged tensors: rows of different lengths in one tensor, `offsets` says where each starts.

The rows are plain dense tensors, so these run without nested tensors. What depends on the values of
the offsets (how many rows in all) has no shape function.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, store, view

__all__ = [
    "jagged_to_padded_dense_forward",
    "nested_compute_contiguous_strides_offsets",
    "nested_tensor_from_mask_left_aligned",
    "padded_dense_to_jagged_forward",
]

_aten = ops.aten


def _places(offsets: Tensor, width: int) -> tuple[Array, Array]:
    """For each place of the box: whether a row reaches it, and which value that is."""
    starts = view(offsets).astype(np.int64)
    steps = np.arange(width)
    inside = steps < np.diff(starts)[:, None]
    return inside, starts[:-1, None] + steps


def jagged_to_padded_dense_forward(
    out: Tensor,
    values: Tensor,
    offsets: Sequence[Tensor],
    max_lengths: Sequence[int],
    padding_value: float,
) -> None:
    """Rows from the left, cut at the box's width, the rest padded."""
    inside, places = _places(offsets[0], max_lengths[0])
    store(out, padding_value)
    view(out)[inside] = view(values)[places[inside]]


def padded_dense_to_jagged_forward(
    dense: Tensor, offsets: Sequence[Tensor], total_L: int | None = None
) -> Tensor:
    """The rows of a box, one behind the other; what a row lacks in the box is zero."""
    if len(offsets) != 1:
        raise refused(f"expected one jagged dimension, got {len(offsets)}")
    inside, places = _places(offsets[0], dense.shape[1])
    starts = view(offsets[0])
    total = int(starts[-1]) if total_L is None else total_L
    sizes = (total, *dense.shape[2:])
    out = _aten.zeros(sizes, dtype=dense.dtype, device=dense.device)
    inside &= places < total
    view(out)[places[inside]] = view(dense)[inside]
    return out


def nested_compute_contiguous_strides_offsets(nested_size: Tensor) -> tuple[Tensor, Tensor]:
    """For each row of sizes: contiguous strides, and where its part starts."""
    if nested_size.ndim != 2 or nested_size.dtype is not dtypes.int64:
        raise refused(
            f"expected int64 rows of sizes, got {list(nested_size.shape)}",
            IndexError if nested_size.ndim < 2 else RuntimeError,
        )
    sizes = view(nested_size)
    inner = np.cumprod(sizes[:, ::-1], axis=1)[:, ::-1]
    strides = np.concatenate([inner[:, 1:], np.ones_like(sizes[:, :1])], axis=1)
    starts = np.cumsum(inner[:, 0]) - inner[:, 0]
    pair = (_aten.empty_like(nested_size), _aten.new_empty(nested_size, [len(sizes)]))
    store(pair[0], strides)
    store(pair[1], starts)
    return pair


def nested_tensor_from_mask_left_aligned(t: Tensor, mask: Tensor) -> bool:
    """Whether each row of the mask is True up to some place, and False behind it."""
    if mask.dtype is not dtypes.bool:
        raise refused(f"expected a mask of bool, got {mask.dtype}")
    if mask.ndim != 2 or t.ndim != 3:
        raise refused(f"expected t of 3 and mask of 2 dimensions, got {t.ndim} and {mask.ndim}")
    if t.shape[:2] != mask.shape:
        raise refused(f"mask of shape {list(mask.shape)} does not fit t {list(t.shape)}")
    kept = view(mask)
    return not bool((kept[:, 1:] & ~kept[:, :-1]).any())
