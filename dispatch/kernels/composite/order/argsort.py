"""Sorted places and sorting along the first dimension, written with operators."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["argsort", "argsort_stable", "argsort_stable_out", "msort", "msort_out"]

_aten = ops.aten


def argsort(self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """Where the elements of a sort come from."""
    indices: Tensor = _aten.sort.default(self, dim, descending)[1]
    return indices


def argsort_stable(
    self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False
) -> Tensor:
    """The same; `stable`: equal elements stay in their order."""
    indices: Tensor = _aten.sort.stable(self, stable=stable, dim=dim, descending=descending)[1]
    return indices


def argsort_stable_out(
    self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False, out: Tensor
) -> Tensor:
    """The same into `out`."""
    values = _aten.empty([0], dtype=self.dtype, layout=self.layout, device=self.device)
    _aten.sort.values_stable(
        self, stable=stable, dim=dim, descending=descending, values=values, indices=out
    )
    return out


def msort(self: Tensor) -> Tensor:
    """Sorted along the first dimension."""
    values: Tensor = _aten.sort.default(self, 0, False)[0]
    return values


def msort_out(self: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    indices = _aten.empty([0], dtype=dtypes.int64, layout=self.layout, device=self.device)
    _aten.sort.values(self, 0, False, values=out, indices=indices)
    return out
