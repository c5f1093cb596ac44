"""Rows of a table left out by a mask."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["rowwise_prune"]

_aten = ops.aten


def rowwise_prune(
    weight: Tensor, mask: Tensor, compressed_indices_dtype: dtypes.dtype
) -> tuple[Tensor, Tensor]:
    """The rows that stay, and where each row is among them (-1: it is left out)."""
    if compressed_indices_dtype not in (dtypes.int32, dtypes.int64):
        raise refused(
            f"expected the dtype of indices to be int32 or int64, got {compressed_indices_dtype}"
        )
    if weight.ndim != 2 or tuple(mask.shape) != tuple(weight.shape[:1]):
        raise refused(
            f"mask of shape {list(mask.shape)} does not fit weight of shape {list(weight.shape)}"
        )
    if mask.dtype is not dtypes.bool:
        raise refused(f"expected mask of bool, got {mask.dtype}")
    if not rules.is_eager(mask):  # PyTorch reads it from memory
        raise refused("expected mask with values, got a tensor without data")
    kept = _aten.index_select(weight, 0, _aten.reshape(_aten.nonzero(mask), [-1]))
    places = _aten.sub.Scalar(_aten.cumsum(mask, 0, dtype=compressed_indices_dtype), 1)
    return kept, _aten.masked_fill.Scalar(places, _aten.logical_not(mask), -1)
