"""Shapes of batch norm by the libraries of devices: the output, and statistics while training."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import REDUCED_FLOATING
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "cudnn_batch_norm",
    "cudnn_batch_norm_backward",
    "miopen_batch_norm",
    "miopen_batch_norm_backward",
]


def _statistics_dtype(input: Tensor) -> dtypes.dtype:
    narrow = input.dtype in REDUCED_FLOATING
    return dtypes.float32 if narrow else input.dtype


def cudnn_batch_norm(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    exponential_average_factor: float,
    epsilon: float,
) -> tuple[TensorSpec, ...]:
    """What is kept for the gradient has no elements here: cudnn alone knows its size."""
    reserve = TensorSpec((0,), dtypes.uint8)
    output = TensorSpec(input.shape, input.dtype, rules.dense_like_strides(input))
    if training:
        channels = TensorSpec((input.shape[1],), _statistics_dtype(input))
        return output, channels, channels, reserve
    none = TensorSpec((0,), weight.dtype)
    return output, none, none, reserve


def _gradients(input: Tensor, weight: Tensor) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    channels = TensorSpec((input.shape[1],), weight.dtype)
    strides = rules.dense_like_strides(input)
    return TensorSpec(input.shape, input.dtype, strides), channels, channels


def cudnn_batch_norm_backward(
    input: Tensor,
    grad_output: Tensor,
    weight: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_var: Tensor | None,
    epsilon: float,
    reserveSpace: Tensor,
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    """As input, and a number for each channel."""
    return _gradients(input, weight)


def miopen_batch_norm(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    exponential_average_factor: float,
    epsilon: float,
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    """Statistics have the sizes of the running ones, else of the weight."""
    layout = rules.suggest_memory_format(input)
    strides = rules.strides_for(input.shape, layout)
    if input.numel() and not _is_like(input, strides):
        raise refused(f"expected input to be contiguous in {layout}")
    output = TensorSpec(input.shape, input.dtype, strides)
    if not training:
        none = TensorSpec((0,), weight.dtype)
        return output, none, none
    mean, var = (weight if t is None else t for t in (running_mean, running_var))
    return output, TensorSpec(mean.shape, weight.dtype), TensorSpec(var.shape, weight.dtype)


def _is_like(input: Tensor, strides: tuple[int, ...]) -> bool:
    """Whether they differ in dimensions of one element only."""
    pairs = zip(input.shape, input.stride(), strides, strict=True)
    return all(length == 1 or mine == other for length, mine, other in pairs)


def miopen_batch_norm_backward(
    input: Tensor,
    grad_output: Tensor,
    weight: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_var: Tensor | None,
    epsilon: float,
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    """As input, and a number for each channel."""
    return _gradients(input, weight)
