"""CPU bodies of products of vectors and of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import (
    RARE_OR_COMPLEX32,
    check_supported,
    quiet,
    store,
    view,
)
from dispatch.kernels.meta.matrix import products as meta

__all__ = ["addbmm", "trace", "vdot"]

_REFUSED = RARE_OR_COMPLEX32 | {dtypes.bool}


def addbmm(
    out: Tensor, self: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any
) -> None:
    """beta * self + alpha * the sum of all products."""
    check_supported(self, _REFUSED)
    if not (self.dtype is batch1.dtype is batch2.dtype):
        raise refused("expected one dtype")
    if batch1.numel() == 0:
        scaled = ops.aten.zeros_like(self) if beta == 0 else ops.aten.mul(self, beta)
        if scaled.dtype is not self.dtype:
            raise refused(f"{self.dtype} scaled by {beta!r} does not fit in self")
        ops.aten.copy_(out, scaled)
        return
    batches, n, k = batch1.shape  # one product: the batches are terms of its sums
    left = batch1.transpose(0, 1).reshape(n, batches * k)
    right = batch2.reshape(batches * k, batch2.shape[2])
    ops.aten.addmm.out(self, left, right, beta=beta, alpha=alpha, out=out)


def trace(self: Tensor) -> Tensor:
    """The sum of the diagonal."""
    meta.check_trace(self)
    check_supported(self, _REFUSED)
    return ops.aten.sum.default(ops.aten.diagonal.default(self))


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Products of the conjugate of self and other, summed."""
    meta.check_vdot(self, other)
    if not self.dtype.is_complex:
        return ops.aten.dot(self, other)
    if other.is_conj() and not self.is_conj():
        return ops.aten.conj(ops.aten.dot(self, ops.aten.conj(other)))
    check_supported(self, _REFUSED)
    out = ops.aten.new_empty(self, [])
    a, b = (view(t).conj() if t.is_conj() else view(t) for t in (self, other))
    with quiet():
        store(out, np.vdot(a, b))
    return out
