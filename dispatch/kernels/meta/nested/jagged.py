"""Shapes of jagged rows in a box: rows of different lengths, padded to one."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor

__all__ = ["jagged_to_padded_dense_forward"]


def jagged_to_padded_dense_forward(
    values: Tensor, offsets: Sequence[Tensor], max_lengths: Sequence[int], padding_value: float
) -> TensorSpec:
    """A row of `max_lengths` for each of `offsets` but the last."""
    if len(offsets) != 1 or len(max_lengths) != 1:
        raise refused(f"expected one jagged dimension, got {len(offsets)} and {len(max_lengths)}")
    return TensorSpec((offsets[0].shape[0] - 1, *max_lengths, *values.shape[1:]), values.dtype)
