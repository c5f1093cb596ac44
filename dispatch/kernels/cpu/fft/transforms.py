"""Bodies of Fourier transforms, over numpy's and, for large ones, scipy's.

Called by the structured kernels with an output of the right size, which numpy fills.
`normalization`: 0 none, 1 divided by the square root of the number of elements transformed, 2 by
that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dispatch._C.dtypes import complex64, complex128, dtype, float32, float64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, quiet, store, view
from dispatch.kernels.meta.fft.transforms import COMPLEX_OF, REAL_OF

__all__ = ["c2c", "c2r", "r2c"]

Ints = Sequence[int]
Norm = Literal["backward", "ortho", "forward"]

LARGE = 1 << 15  # elements from which scipy's transforms pay

# numpy's names for `normalization`: what they do depends on the direction.
FORWARD: tuple[Norm, ...] = ("backward", "ortho", "forward")
BACKWARD: tuple[Norm, ...] = ("forward", "ortho", "backward")


def check_width(self: Tensor, *allowed: object) -> None:
    if self.dtype not in allowed:
        raise refused(f"no CPU transform for {self.dtype}")


def scipys() -> Any:
    """scipy's transforms, or None."""
    try:
        import scipy.fft
    except ImportError:
        return None
    return scipy.fft


def run(
    name: str, out: Tensor, x: Array, n: int | None, dims: Ints, norm: Norm, kind: dtype
) -> None:
    """A transform of one or several dimensions, by the name that numpy and scipy know it by.

    Large ones are scipy's if there is one: several rows at a time, where numpy's are one by one.
    """
    axes = dims if name.endswith("n") else dims[0]
    fast = scipys() if x.size >= LARGE else None
    if fast is not None:
        store(out, getattr(fast, name)(x, n, axes, norm))
        return
    target = view(out) if out.dtype is kind else None
    result = getattr(np.fft, name)(x, n, axes, norm, target)
    if target is None:
        store(out, result)


@quiet()
def c2c(out: Tensor, self: Tensor, dim: Ints, normalization: int, forward: bool) -> None:
    check_width(self, complex64, complex128)
    if 0 in out.shape:
        return
    if not dim:
        store(out, view(self))
        return
    name = ("fft" if forward else "ifft") + ("n" if len(dim) > 1 else "")
    norm = (FORWARD if forward else BACKWARD)[normalization]
    run(name, out, view(self), None, dim, norm, self.dtype)


@quiet()
def r2c(out: Tensor, self: Tensor, dim: Ints, normalization: int, onesided: bool) -> None:
    check_width(self, float32, float64)
    if 0 in out.shape:
        return
    name = ("rfft" if onesided else "fft") + ("n" if len(dim) > 1 else "")
    run(name, out, view(self), None, dim, FORWARD[normalization], COMPLEX_OF[self.dtype])


@quiet()
def c2r(out: Tensor, self: Tensor, dim: Ints, normalization: int, last_dim_size: int) -> None:
    check_width(self, complex64, complex128)
    if 0 in out.shape:
        return
    x, norm = view(self), BACKWARD[normalization]
    if len(dim) > 1:
        x = np.fft.ifftn(x, None, dim[:-1], norm)
    run("irfft", out, x, last_dim_size, dim[-1:], norm, REAL_OF[self.dtype])
