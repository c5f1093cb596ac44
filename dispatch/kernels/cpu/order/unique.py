"""CPU kernels of counts and of distinct slices: the outputs' sizes are in the values."""

from __future__ import annotations

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import ALL_COMPLEX, FLOAT8, INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_supported, compute, store, view
from dispatch.kernels.meta import rules

__all__ = [
    "bincount",
    "unique_dim",
    "unique_dim_consecutive",
]

_aten = ops.aten
_UNORDERED = FLOAT8 | ALL_COMPLEX
Three = tuple[Tensor, Tensor, Tensor]


def _places(values: Array) -> Tensor:
    """int64 values."""
    made = _aten.empty(list(values.shape), dtype=dtypes.int64)
    store(made, values)
    return made


def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number from 0 on occurs, or the sum of its weights."""
    if minlength < 0:
        raise refused(f"expected minlength of 0 or more, got {minlength}")
    if self.ndim == 1 and self.numel() == 0:
        return _aten.zeros([minlength], dtype=dtypes.int64, device=self.device)
    if self.dtype not in INTEGRAL:
        raise refused(f"no CPU kernel for {self.dtype}", NotImplementedError)
    if self.ndim != 1 or int(view(self).min()) < 0:
        raise refused("expected a vector of integers that are not negative")
    if weights is not None and tuple(weights.shape) != tuple(self.shape):
        raise refused(f"weights of shape {list(weights.shape)} for {list(self.shape)}")
    values = view(self).astype(np.int64)
    if weights is None:
        found, kind = np.bincount(values, minlength=minlength), dtypes.int64
    else:
        kind = weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64
        found = np.bincount(values, compute(weights).astype(np.float64), minlength)
    out = _aten.empty([len(found)], dtype=kind)
    store(out, found)
    return out


# ---- distinct slices -------------------------------------------------------------------------


def _values(self: Tensor, array: Array) -> Tensor:
    out = _aten.new_empty(self, list(array.shape))
    store(out, array)
    return out


def _runs(different: Array, size: int) -> tuple[Array, Array, Array]:
    """Starts of runs, the run of each element, and lengths, from where neighbours differ."""
    first = np.concatenate([np.ones(min(size, 1), bool), different])
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, size))
    return starts, np.cumsum(first) - 1, lengths


def _slices(self: Tensor, dim: int) -> tuple[Array, Array, int]:
    """Slices along `dim` in front, each also as a row."""
    dim = rules.wrap_dim(dim, self.ndim)
    check_supported(self, _UNORDERED)
    front = np.moveaxis(compute(self), dim, 0) if self.ndim else compute(self).reshape(1)
    if front.shape[0] == 0 and front.size == 0 and 0 in front.shape[1:]:
        raise refused(f"self of shape {list(self.shape)} has no slices")
    return front, front.reshape(front.shape[0], -1), dim


def _back(self: Tensor, slices: Array, dim: int) -> Tensor:
    """Slices with their dimension back in its place, which the strides show."""
    return _aten.movedim.int(_values(self, slices), 0, dim) if self.ndim else _values(self, slices)


def unique_dim(
    self: Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Three:
    """Distinct slices along `dim`, in order."""
    front, rows, dim = _slices(self, dim)
    order = np.lexsort(rows.T[::-1]) if rows.size else np.arange(len(rows))
    ordered = rows[order]
    starts, run, lengths = _runs((ordered[1:] != ordered[:-1]).any(-1), len(rows))
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = run
    return _back(self, front[order][starts], dim), _places(inverse), _places(lengths)


def unique_dim_consecutive(
    self: Tensor, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> Three:
    """Slices that differ from the one before."""
    front, rows, dim = _slices(self, dim)
    starts, inverse, lengths = _runs((rows[1:] != rows[:-1]).any(-1), len(rows))
    return _back(self, front[starts], dim), _places(inverse), _places(lengths)
