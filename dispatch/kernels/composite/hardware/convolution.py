"""Convolutions under a library's name: the convolution of any other tensor."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["mkldnn_convolution", "nnpack_spatial_convolution"]

Ints = Sequence[int]
_aten = ops.aten


def mkldnn_convolution(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    padding: Ints,
    stride: Ints,
    dilation: Ints,
    groups: int,
) -> Tensor:
    """aten::convolution that is not transposed."""
    none = [0] * len(padding)
    return _aten.convolution(self, weight, bias, stride, padding, dilation, False, none, groups)


def nnpack_spatial_convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, padding: Ints, stride: Ints = (1, 1)
) -> Tensor:
    """aten::conv2d."""
    return _aten.conv2d(input, weight, bias, stride, padding)
