"""The window that no other operators make: Kaiser's."""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import float64
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import store, view

__all__ = ["fill_kaiser"]


def fill_kaiser(out: Tensor, n: int, beta: float) -> None:
    """I0 of the height of a half circle at each of `n` places, divided by that at the middle."""
    middle = (n - 1) / 2.0
    height = np.sqrt(1 - ((np.arange(n) - middle) / middle) ** 2)
    heights = ops.aten.empty.memory_format([n + 1], dtype=float64)  # the last is the middle's
    values = view(heights)
    values[:n], values[n] = beta * height, beta
    ops.aten.i0_(heights)
    store(out, values[:n] / values[n])
