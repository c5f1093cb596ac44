"""`put` and `index_fill`: copies of self that are then written."""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import preserve_format
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["index_fill", "put"]

_aten = ops.aten


def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of self with elements, counted as in one dimension, written or added to."""
    return _aten.put_(_aten.clone(self, memory_format=preserve_format), index, source, accumulate)


def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of self with slices along `dim` filled."""
    return _aten.index_fill_(_aten.clone(self, memory_format=preserve_format), dim, index, value)
