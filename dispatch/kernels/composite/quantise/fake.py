"""Fake quantisation as users call it: the values of the operators that give a mask too."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "masked_backward",
    "moving_average",
    "per_channel",
    "per_tensor",
    "per_tensor_of_tensors",
]

_aten = ops.aten


def per_tensor(
    self: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> Tensor:
    """One scale."""
    found: Tensor = _aten.fake_quantize_per_tensor_affine_cachemask(
        self, scale, zero_point, quant_min, quant_max
    )[0]
    return found


def per_tensor_of_tensors(
    self: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int
) -> Tensor:
    """One scale, in a tensor."""
    enabled = _aten.ones([1], dtype=dtypes.int64, device=self.device)
    found: Tensor = _aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self, scale, zero_point, enabled, quant_min, quant_max
    )[0]
    return found


def per_channel(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """A scale for each channel."""
    found: Tensor = _aten.fake_quantize_per_channel_affine_cachemask(
        self, scale, zero_point, axis, quant_min, quant_max
    )[0]
    return found


def masked_backward(grad: Tensor, mask: Tensor) -> Tensor:
    """Values in range let their gradients through."""
    if mask.dtype is not dtypes.bool:
        raise refused(f"expected mask of bool, got {mask.dtype}")
    if mask.numel() != grad.numel():
        raise refused(f"mask of shape {list(mask.shape)} does not fit grad {list(grad.shape)}")
    return _aten.mul.Tensor(grad, mask) if grad.numel() else grad


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
) -> Tensor:
    """With a scale that follows the range of what is seen; an empty tensor is returned as it is."""
    if self.numel() == 0:
        return _aten.clone(self)
    found: Tensor = _aten._fused_moving_avg_obs_fq_helper(
        self,
        observer_on,
        fake_quant_on,
        running_min,
        running_max,
        scale,
        zero_point,
        averaging_const,
        quant_min,
        quant_max,
        ch_axis,
        per_row_fake_quant,
        symmetric_quant,
    )[0]
    return found
