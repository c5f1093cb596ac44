"""Shape functions of rearranging channels: channel_shuffle, and im2col, a column for a window."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["channel_shuffle", "im2col"]


def channel_shuffle(self: Tensor, groups: int) -> TensorSpec:
    """self's sizes, in its memory format; on meta contiguous."""
    if self.ndim <= 2:
        raise refused(f"expected self to have more than 2 dimensions, got {list(self.shape)}")
    if groups <= 0:
        raise refused(f"Number of groups to divide channels in must be positive, got {groups}")
    if self.shape[1] % groups:
        channels = self.shape[1]
        raise refused(f"Number of channels must be divisible by groups: {channels}, {groups}")
    if not rules.is_eager(self):
        return TensorSpec(self.shape, self.dtype)
    memory_format = rules.suggest_memory_format(self)
    return TensorSpec(self.shape, self.dtype, rules.strides_for(self.shape, memory_format))


def _check_window(name: str, values: Sequence[int], least: int) -> None:
    if len(values) != 2:
        raise refused(f"expected {name} to have 2 numbers, got {list(values)}")
    if any(v < least for v in values):
        raise refused(f"{name} must be {least} or more, got {list(values)}")


def im2col(
    self: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> TensorSpec:
    """A column for each place of the window, with all channels' elements in it."""
    if self.ndim < 3 and rules.is_eager(self):
        rules.wrap_dim(2, self.ndim)
    for name, values, least in (
        ("kernel_size", kernel_size, 1),
        ("dilation", dilation, 1),
        ("padding", padding, 0),
        ("stride", stride, 1),
    ):
        _check_window(name, values, least)
    batched = self.ndim == 4
    if self.ndim not in (3, 4) or rules.has_zero(self.shape[batched:]):
        raise refused(
            "expected self to have 3 dimensions or 4 with a batch, none but the batch of size 0, "
            f"got {list(self.shape)}"
        )
    places = [
        (size + 2 * pad - gap * (width - 1) - 1) // step + 1
        for size, pad, gap, width, step in zip(
            self.shape[-2:], padding, dilation, kernel_size, stride, strict=True
        )
    ]
    if any(n < 1 for n in places):
        raise refused(
            f"calculated shape of the array of sliding blocks as {places} of {list(self.shape)}, "
            "which has to be positive"
        )
    sizes = [self.shape[-3] * kernel_size[0] * kernel_size[1], places[0] * places[1]]
    return TensorSpec([self.shape[0], *sizes] if batched else sizes, self.dtype)
