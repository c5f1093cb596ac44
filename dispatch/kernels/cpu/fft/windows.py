"""The window that no other operators make: Kaiser's."""

from __future__ import annotations

import numpy as np

from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import store

__all__ = ["fill_kaiser"]


def fill_kaiser(out: Tensor, n: int, beta: float) -> None:
    """I0 of the height of a half circle at each of `n` places, divided by that at the middle."""
    middle = (n - 1) / 2.0
    height = np.sqrt(1 - ((np.arange(n) - middle) / middle) ** 2)
    store(out, np.i0(beta * height) / np.i0(beta))
