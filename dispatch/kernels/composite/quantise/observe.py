"""Scales and ranges for quantisation, from values: computed where the values are, on the CPU."""

from __future__ import annotations

from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.quantise import observe

__all__ = ["choose_per_tensor", "least_error"]


def choose_per_tensor(self: Tensor, reduce_range: bool = False) -> tuple[float, int]:
    """A scale and a zero point."""
    found: tuple[float, int] = observe.choose_per_tensor(self, reduce_range)
    return found


def least_error(
    input: Tensor, numel: int, n_bins: int, ratio: float, bit_width: int
) -> tuple[Tensor, Tensor]:
    """The largest and the least value of the range to quantise."""
    found: tuple[Tensor, Tensor] = observe.least_error(input, numel, n_bins, ratio, bit_width)
    return found
