"""Bodies of Fourier transforms, over numpy's.

Called by the structured kernels with an output of the right size. `normalization`: 0 none, 1
divided by the square root of the number of elements transformed, 2 by that number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dispatch._C.dtypes import complex64, complex128, float32, float64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, quiet, store, view

__all__ = ["c2c", "c2r", "r2c"]

Ints = Sequence[int]


def scaled(values: Array, count: int, normalization: int) -> Array:
    if normalization == 0:
        return values
    factor = 1 / math.sqrt(count) if normalization == 1 else 1 / count
    values *= values.real.dtype.type(factor)
    return values


def check_width(self: Tensor, *allowed: object) -> None:
    if self.dtype not in allowed:
        raise refused(f"no CPU transform for {self.dtype}")


@quiet()
def c2c(out: Tensor, self: Tensor, dim: Ints, normalization: int, forward: bool) -> None:
    check_width(self, complex64, complex128)
    if 0 in out.shape:
        return
    x = view(self)
    axes = [d % self.ndim for d in dim]
    if not axes:
        store(out, x)
        return
    x = np.fft.fftn(x, axes=axes) if forward else np.fft.ifftn(x, axes=axes, norm="forward")
    store(out, scaled(x, math.prod(x.shape[d] for d in axes), normalization))


@quiet()
def r2c(out: Tensor, self: Tensor, dim: Ints, normalization: int, onesided: bool) -> None:
    check_width(self, float32, float64)
    if 0 in out.shape:
        return
    x = view(self)
    axes = [d % self.ndim for d in dim]
    result = np.fft.rfftn(x, axes=axes) if onesided else np.fft.fftn(x, axes=axes)
    store(out, scaled(result, math.prod(x.shape[d] for d in axes), normalization))


@quiet()
def c2r(out: Tensor, self: Tensor, dim: Ints, normalization: int, last_dim_size: int) -> None:
    check_width(self, complex64, complex128)
    if 0 in out.shape:
        return
    x = view(self)
    axes = [d % self.ndim for d in dim]
    for d in axes[:-1]:
        x = np.fft.ifft(x, axis=d, norm="forward")
    result = np.fft.irfft(x, n=last_dim_size, axis=axes[-1], norm="forward")
    store(out, scaled(result, math.prod(out.shape[d] for d in axes), normalization))
