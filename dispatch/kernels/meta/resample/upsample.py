"""Shapes of interpolation (nearest, bilinear, bicubic) and of sampling on a grid.

Called by the structured kernels of `upsample_*2d` and `grid_sampler_2d`. A result keeps the memory
format that the input suggests; on cuda PyTorch has channels_last kernels for many channels only.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.dtypes import channels_last, contiguous_format
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import numel, strides_for, suggest_memory_format

__all__ = ["bilinear2d", "grid_sampler_2d", "nearest2d"]

Ints = Sequence[int]

# Channels from which PyTorch's cuda kernels work in channels_last.
CUDA_CHANNELS_NEAREST = 4
CUDA_CHANNELS_BILINEAR = 16


def resized(self: Tensor, output_size: Ints, cuda_channels: int, copied: bool) -> TensorSpec:
    if len(output_size) != 2:
        raise refused(f"output_size must have 2 numbers, got {list(output_size)}")
    if self.ndim != 4:
        raise refused(f"self must have 4 dimensions, got {list(self.shape)}")
    if min(self.shape[2:]) <= 0 or min(output_size) <= 0:
        raise refused(
            f"input and output sizes must be positive, got {list(self.shape)} and "
            f"{list(output_size)}"
        )
    if numel(self.shape[1:]) == 0:
        raise refused(f"only the batch of self may be empty, got {list(self.shape)}")
    sizes = (*self.shape[:2], *output_size)
    layout = suggest_memory_format(self)
    if layout is channels_last and self.device.type == "cuda" and self.shape[1] < cuda_channels:
        layout = contiguous_format
    return TensorSpec(sizes, self.dtype, strides_for(sizes, layout), copied=copied)


def nearest2d(
    self: Tensor, output_size: Ints, scales_h: float | None, scales_w: float | None
) -> TensorSpec:
    return resized(self, output_size, CUDA_CHANNELS_NEAREST, False)


def bilinear2d(
    self: Tensor,
    output_size: Ints,
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
) -> TensorSpec:
    """Bilinear and bicubic."""
    return resized(self, output_size, CUDA_CHANNELS_BILINEAR, True)


def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> TensorSpec:
    for name, mode in (("interpolation", interpolation_mode), ("padding", padding_mode)):
        if mode not in (0, 1, 2):
            raise refused(f"{name}_mode must be 0, 1 or 2, got {mode}")
    if input.dtype is not grid.dtype:
        raise refused(f"input ({input.dtype}) and grid ({grid.dtype}) must have one dtype")
    if (
        input.ndim != 4
        or grid.ndim != 4
        or grid.shape[-1] != 2
        or input.shape[0] != grid.shape[0]
        or 0 in input.shape[2:]
    ):
        raise refused(
            f"expected input (N, C, H, W) and grid (N, H, W, 2), got {list(input.shape)} and "
            f"{list(grid.shape)}"
        )
    return TensorSpec((*input.shape[:2], *grid.shape[1:3]), input.dtype)
