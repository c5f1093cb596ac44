"""Bodies of Fourier transforms, over numpy's.

Called by the structured kernels with an output of the right size, which numpy fills.
`normalization`: 0 none, 1 divided by the square root of the number of elements transformed, 2 by
that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dispatch._C.dtypes import complex64, complex128, dtype, float32, float64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import quiet, store, view
from dispatch.kernels.meta.fft.transforms import COMPLEX_OF, REAL_OF

__all__ = ["c2c", "c2r", "r2c"]

Ints = Sequence[int]
Norm = Literal["backward", "ortho", "forward"]

# numpy's names for `normalization`: what they do depends on the direction.
FORWARD: tuple[Norm, ...] = ("backward", "ortho", "forward")
BACKWARD: tuple[Norm, ...] = ("forward", "ortho", "backward")


def check_width(self: Tensor, *allowed: object) -> None:
    if self.dtype not in allowed:
        raise refused(f"no CPU transform for {self.dtype}")


def fits(out: Tensor, kind: dtype) -> bool:
    """Whether numpy may write to the output: it has the dtype of the result."""
    return out.dtype is kind


@quiet()
def c2c(out: Tensor, self: Tensor, dim: Ints, normalization: int, forward: bool) -> None:
    check_width(self, complex64, complex128)
    if 0 in out.shape:
        return
    x, target = view(self), view(out) if fits(out, self.dtype) else None
    if not dim:
        store(out, x)
        return
    norm = (FORWARD if forward else BACKWARD)[normalization]
    if len(dim) == 1:
        one = np.fft.fft if forward else np.fft.ifft
        result = one(x, None, dim[0], norm, target)
    else:
        several = np.fft.fftn if forward else np.fft.ifftn
        result = several(x, None, dim, norm, target)
    if target is None:
        store(out, result)


@quiet()
def r2c(out: Tensor, self: Tensor, dim: Ints, normalization: int, onesided: bool) -> None:
    check_width(self, float32, float64)
    if 0 in out.shape:
        return
    x, target = view(self), view(out) if fits(out, COMPLEX_OF[self.dtype]) else None
    norm = FORWARD[normalization]
    if len(dim) == 1:
        one = np.fft.rfft if onesided else np.fft.fft
        result = one(x, None, dim[0], norm, target)
    else:
        several = np.fft.rfftn if onesided else np.fft.fftn
        result = several(x, None, dim, norm, target)
    if target is None:
        store(out, result)


@quiet()
def c2r(out: Tensor, self: Tensor, dim: Ints, normalization: int, last_dim_size: int) -> None:
    check_width(self, complex64, complex128)
    if 0 in out.shape:
        return
    x, target = view(self), view(out) if fits(out, REAL_OF[self.dtype]) else None
    norm = BACKWARD[normalization]
    for d in dim[:-1]:
        x = np.fft.ifft(x, axis=d, norm=norm)
    result = np.fft.irfft(x, last_dim_size, dim[-1], norm, out=target)
    if target is None:
        store(out, result)
