"""Reductions of segments along a dimension, on numpy's `reduceat`.

Called for `segment_reduce` and its gradient. Segments are given by their lengths or by where they
start and end (`offsets`), for each index of the dimensions before `axis`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C.dtypes import int32, int64
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view
from dispatch.kernels.meta import rules

__all__ = ["segment_reduce", "segment_reduce_backward"]

_aten = ops.aten
_UFUNCS = {
    "sum": (np.add, 0.0),
    "mean": (np.add, 0.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
    "prod": (np.multiply, 1.0),
}


def _check_places(data: Tensor, name: str, t: Tensor, axis: int) -> None:
    if data.ndim < t.ndim:
        raise refused(f"expected {name} to have at most {data.ndim} dimensions, got {t.ndim}")
    if axis != t.ndim - 1:
        raise refused(f"expected axis to be the last dimension of {name}, got {axis}")
    if t.dtype not in (int32, int64):
        raise refused(f"no CPU kernel for {name} of {t.dtype}", NotImplementedError)


def _limits(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, unsafe: bool
) -> tuple[Array, Array]:
    """Where segments start and end: [indices before `axis`, segments]."""
    if offsets is not None:
        _check_places(data, "offsets", offsets, axis)
        places = view(offsets).astype(np.int64).reshape(-1, offsets.shape[-1])
        return places[:, :-1], places[:, 1:]
    if lengths is None:
        raise refused("expected lengths or offsets to be given")
    _check_places(data, "lengths", lengths, axis)
    sizes = view(lengths).astype(np.int64).reshape(-1, lengths.shape[-1])
    if not unsafe:
        if sizes.min() < 0:
            raise refused("expected no negative lengths")
        if (sizes.sum(-1) != data.shape[axis]).any():
            raise refused(f"expected lengths to sum to {data.shape[axis]}")
    ends = sizes.cumsum(-1)
    return ends - sizes, ends


def _rows(values: Array, axis: int) -> Array:
    """[indices before `axis`, along it, behind it]."""
    before = int(np.prod(values.shape[:axis]))
    return values.reshape(before, values.shape[axis], -1)


def _reduce(values: Array, starts: Array, ends: Array, ufunc: np.ufunc, initial: float) -> Array:
    before, size, behind = values.shape
    segments = starts.shape[1]
    if not segments or not before:
        return np.empty((before, segments, behind), values.dtype)
    flat = np.concatenate([values.reshape(-1, behind), np.full((1, behind), initial)])
    flat = flat.astype(values.dtype, copy=False)
    shift = size * np.arange(before)[:, None]
    pairs = np.stack([starts + shift, ends + shift], -1).reshape(-1)
    found = ufunc.reduceat(flat, pairs, 0)[::2].reshape(before, segments, behind)
    found = ufunc(found, values.dtype.type(initial))
    found[starts == ends] = initial
    return found


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Each segment of `data` along `axis` as one element."""
    axis = rules.wrap_dim(axis, data.ndim)
    if indices is not None:
        raise refused("indices are not supported")
    if lengths is None and offsets is None:
        raise refused("expected lengths or offsets to be given")
    if reduce not in _UFUNCS:
        raise refused(f"expected reduce to be one of {list(_UFUNCS)}, got {reduce!r}")
    starts, ends = _limits(data, lengths, offsets, axis, unsafe)
    check_dtype(data.dtype, FLOATING)
    ufunc, identity = _UFUNCS[reduce]
    with quiet():
        first = identity if initial is None else initial
        found = _reduce(_rows(compute(data), axis), starts, ends, ufunc, first)
        if reduce == "mean":
            counts = (ends - starts)[..., None].astype(found.dtype)
            empty = found if initial is not None else np.full_like(found, np.nan)
            found = np.where(counts > 0, found / counts, empty)
    sizes = [*data.shape]
    sizes[axis] = starts.shape[1]
    out = _aten.empty(sizes, dtype=data.dtype, device=data.device)
    store(out, found.reshape(sizes))
    return out


def _products_without(values: Array, starts: Array, ends: Array, initial: float) -> Array:
    """For each element, the product of the others of its segment."""
    found = np.empty_like(values)
    for i in range(values.shape[0]):
        for start, end in zip(starts[i], ends[i], strict=True):
            part = values[i, start:end]
            ones = np.full((1, part.shape[1]), 1.0, part.dtype)
            before = np.cumprod(np.concatenate([ones, part[:-1]]), 0)
            behind = np.cumprod(np.concatenate([ones, part[:0:-1]]), 0)[::-1]
            found[i, start:end] = initial * before * behind
    return found


def segment_reduce_backward(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    initial: Any = None,
) -> Tensor:
    """The gradient of `data`; extremes that are there several times share theirs."""
    axis = rules.wrap_dim(axis, data.ndim)
    if reduce not in _UFUNCS:
        raise refused(f"expected reduce to be one of {list(_UFUNCS)}, got {reduce!r}")
    starts, ends = _limits(data, lengths, offsets, axis, True)
    check_dtype(data.dtype, FLOATING)
    values = _rows(compute(data), axis)
    grads, outputs = _rows(compute(grad), axis), _rows(compute(output), axis)
    made = _aten.zeros(list(data.shape), dtype=grad.dtype, device=grad.device)
    if not values.size:
        return made
    counts = ends - starts
    # The segment of each element; elements in none have no gradient.
    owner = np.full(values.shape[:2], -1, np.int64)
    row = np.repeat(np.arange(len(starts)), counts.sum(-1))
    lengths_of = counts.ravel()
    within = np.arange(row.size) - np.repeat(np.cumsum(lengths_of) - lengths_of, lengths_of)
    segment = np.tile(np.arange(starts.shape[1]), len(starts))
    places = within + np.repeat(starts.ravel(), lengths_of)
    owner[row, places] = np.repeat(segment, lengths_of)
    spread = np.maximum(owner, 0)[..., None]
    with quiet():
        found = np.take_along_axis(grads, spread, 1)
        if reduce == "mean":
            found = found / np.take_along_axis(counts, spread[..., 0], 1)[..., None]
        elif reduce in ("max", "min"):
            chosen = np.isnan(values) | (values == np.take_along_axis(outputs, spread, 1))
            chosen = chosen.astype(values.dtype)
            ties = _reduce(chosen, starts, ends, np.add, 0.0)
            found = chosen * found / np.maximum(np.take_along_axis(ties, spread, 1), 1)
        elif reduce == "prod":
            rest = _products_without(values, starts, ends, 1.0 if initial is None else initial)
            found = found * rest
    store(made, np.where(owner[..., None] >= 0, found, 0).reshape(tuple(data.shape)))
    return made
