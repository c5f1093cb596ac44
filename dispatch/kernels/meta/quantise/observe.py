"""The Meta kernel of observing a range while values are quantised, and what it checks."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["check_axis", "moving_average"]


def check_axis(self: Tensor, ch_axis: int) -> None:
    if not ch_axis < self.ndim:
        raise refused(f"expected ch_axis below self's {self.ndim} dimensions, got {ch_axis}")


def moving_average(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> tuple[Tensor, Tensor]:
    """Values and mask of self's sizes."""
    check_axis(self, ch_axis)
    return ops.aten.empty_like(self), ops.aten.empty_like(self, dtype=dtypes.bool)
