"""Shape functions of places whose number the caller says: nonzero_static."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor

__all__ = ["nonzero_static"]


def nonzero_static(self: Tensor, size: int, fill_value: int) -> TensorSpec:
    """`size` rows of a number for each dimension."""
    if size < 0:
        raise refused(f"size must not be negative, got {size}")
    return TensorSpec([size, self.ndim], dtypes.int64)
