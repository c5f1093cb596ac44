"""Bodies of pairwise distances: cdist between two sets of points, pdist within one.

Called by the structured kernels with an output of the right size. Differences of all pairs are
formed a block of rows at a time, so that memory stays bounded. Euclidean distances of many points
come from one matrix product, as in PyTorch, whose rounding near 0 that decides.
"""

from __future__ import annotations

import math

import numpy as np

from dispatch._C.dtypes import float32, float64
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view

__all__ = ["cdist", "pdist"]

# Points of a set above which Euclidean distances are taken from a matrix product.
FEW_POINTS = 25
# Bytes of a block of differences.
BLOCK = 1 << 18


def norms(difference: Array, p: float, skip_nan: bool) -> Array:
    """Norms along the last dimension; with `skip_nan` the largest one passes over NaN."""
    size = np.abs(difference, out=difference)
    result: Array
    if p == 0:
        result = np.minimum(np.ceil(size), 1).sum(axis=-1)
    elif p == 1:
        result = size.sum(axis=-1)
    elif p == 2:
        result = np.sqrt((size * size).sum(axis=-1))
    elif math.isinf(p):
        result = (np.fmax if skip_nan else np.maximum).reduce(size, axis=-1, initial=0)
    else:
        exponent = size.dtype.type(p)
        result = np.power(np.power(size, exponent).sum(axis=-1), 1 / exponent)
    return result


def by_product(a: Array, b: Array) -> Array:
    """Euclidean distances as the root of a.a - 2 a.b + b.b."""
    aa, bb = ((v * v).sum(axis=-1, keepdims=True) for v in (a, b))
    left = np.concatenate([-2 * a, aa, np.ones_like(aa)], axis=-1)
    right = np.concatenate([b, np.ones_like(bb), bb], axis=-1)
    squares = np.matmul(left, right.swapaxes(-1, -2))
    return np.sqrt(np.maximum(squares, a.dtype.type(1e-30)))


@quiet()
def cdist(out: Tensor, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> None:
    if 0 in out.shape:
        return
    if x1.shape[-1] == 0:
        store(out, 0)
        return
    many = x1.shape[-2] > FEW_POINTS or x2.shape[-2] > FEW_POINTS
    if p == 2 and (compute_mode == 1 or (compute_mode in (None, 0) and many)):
        store(out, by_product(compute(x1), compute(x2)))
        return
    check_dtype(x1.dtype, (float32, float64))
    a, b, result = view(x1), view(x2), view(out)
    rows = max(BLOCK // (result[..., 0, :].size * a.shape[-1] * a.itemsize), 1)
    for i in range(0, a.shape[-2], rows):
        difference = a[..., i : i + rows, None, :] - b[..., None, :, :]
        result[..., i : i + rows, :] = norms(difference, p, True)


@quiet()
def pdist(out: Tensor, self: Tensor, p: float) -> None:
    check_dtype(self.dtype, (float32, float64))
    x, result, at = view(self), view(out), 0
    if 0 in x.shape:
        store(out, 0)
        return
    for i in range(len(x) - 1):
        last = at + len(x) - 1 - i
        result[at:last] = norms(x[i + 1 :] - x[i], p, False)
        at = last
