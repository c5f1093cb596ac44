"""Shape functions of fake quantisation: self's sizes and dtype, and a mask of them.

PyTorch has no Meta kernels for these operators: fake tensors run the CPU's on zeros.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "learnable_per_channel",
    "learnable_per_tensor",
    "per_channel",
    "per_tensor",
    "per_tensor_of_tensors",
]

_ZEROS = (dtypes.int32, dtypes.float32, dtypes.float16)


def _check_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise refused(f"expected quant_min to be at most quant_max {quant_max}, got {quant_min}")


def _alike(self: Tensor) -> tuple[TensorSpec, TensorSpec]:
    strides = rules.dense_like_strides(self)
    values = TensorSpec(self.shape, self.dtype, strides)
    return values, TensorSpec(self.shape, dtypes.bool, strides)


def per_tensor(
    self: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[TensorSpec, TensorSpec]:
    """One scale."""
    _check_range(quant_min, quant_max)
    if not quant_min <= zero_point <= quant_max:
        raise refused(
            f"expected zero_point from quant_min {quant_min} to quant_max {quant_max}, "
            f"got {zero_point}"
        )
    return _alike(self)


def per_tensor_of_tensors(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    fake_quant_enabled: Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[TensorSpec, TensorSpec]:
    """One scale, in a tensor."""
    _check_range(quant_min, quant_max)
    for t in (scale, zero_point, fake_quant_enabled):
        if t.numel() != 1:
            raise refused(f"expected one element, got shape {list(t.shape)}")
    return _alike(self)


def _check_first(*tensors: Tensor) -> None:
    """Each has a first element along its first dimension: only that is read."""
    for t in tensors:
        if not t.ndim or not t.numel():
            raise refused(
                f"expected a dimension, and an element, got shape {list(t.shape)}", IndexError
            )


def _check_channels(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, zeros: tuple[dtypes.dtype, ...]
) -> None:
    if scale.dtype is not dtypes.float32:
        raise refused(f"expected scale of float32, got {scale.dtype}")
    if zeros and zero_point.dtype not in zeros:
        raise refused(f"expected zero_point to have one of {zeros}, got {zero_point.dtype}")
    count = self.size(axis)
    for name, t in (("scale", scale), ("zero_point", zero_point)):
        if t.ndim != 1 or t.shape[0] != count:
            raise refused(f"expected {name} of shape [{count}], got {list(t.shape)}")


def _check_axis(self: Tensor, axis: int) -> None:
    if not 0 <= axis < self.ndim:
        raise refused(f"expected axis to be one of {self.ndim} dimensions, got {axis}")


def per_channel(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[TensorSpec, TensorSpec]:
    """A scale for each channel."""
    _check_channels(self, scale, zero_point, axis, _ZEROS)
    _check_range(quant_min, quant_max)
    _check_axis(self, axis)
    return _alike(self)


def learnable_per_tensor(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> TensorSpec:
    """One scale, in a tensor."""
    _check_first(scale, zero_point)
    _check_range(quant_min, quant_max)
    return _alike(self)[0]


def learnable_per_channel(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> TensorSpec:
    """A scale for each channel."""
    _check_channels(self, scale, zero_point, axis, ())
    _check_range(quant_min, quant_max)
    _check_axis(self, axis)
    return _alike(self)[0]
