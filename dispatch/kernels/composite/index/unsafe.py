"""index and index_put as compilers write them: indices that they know to be right, and masks.

Composite. "Unsafe" tells a compiler that it need not check; here indices are checked all the same.
Under a mask, the indices of elements that it leaves out may be anything.
"""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "_unsafe_index",
    "_unsafe_index_put",
    "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
]

_aten = ops.aten
Indices = list[Tensor | None]


def _unsafe_index(self: Tensor, indices: Indices) -> Tensor:
    """`index`, by numbers only."""
    for item in indices:
        if item is not None and item.dtype not in (dtypes.int64, dtypes.int32):
            raise refused(f"expected indices of dtype int32 or int64, got {item.dtype}")
    return _aten.index.Tensor(self, indices)


def _unsafe_index_put(
    self: Tensor, indices: Indices, values: Tensor, accumulate: bool = False
) -> Tensor:
    """`index_put`."""
    return _aten.index_put(self, indices, values, accumulate)


def _clamped(self: Tensor, mask: Tensor, indices: Indices) -> Indices:
    """Indices in range: those out of range are taken for 0 or the last one."""
    found: Indices = []
    for d, item in enumerate(indices):
        if item is None:
            found.append(None)
        else:
            size = self.size(d)
            found.append(_aten.clamp(item, -size, size - 1))
    return found


def _unsafe_masked_index(self: Tensor, mask: Tensor, indices: Indices, fill: Any) -> Tensor:
    """`index` where the mask is true, `fill` elsewhere."""
    if self.numel() == 0:
        return _aten.new_full(_aten._unsafe_index(self, indices), list(mask.shape), fill)
    found = _aten._unsafe_index.Tensor(self, _clamped(self, mask, indices))
    return _aten.masked_fill.Scalar(found, _aten.logical_not(mask), fill)


def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Indices, values: Tensor
) -> Tensor:
    """self with values added where the mask is true."""
    if self.numel() == 0:
        return _aten.clone(self)
    masked = _aten.masked_fill.Scalar(values, _aten.logical_not(mask), 0)
    return _aten._unsafe_index_put(self, _clamped(self, mask, indices), masked, True)
