"""The body of slow_conv_transpose2d, by that of `convolution`."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.conv.convolution import convolution

__all__ = ["slow_conv_transpose2d"]

Ints = Sequence[int]

_unsqueeze = ops.aten.unsqueeze.default


def slow_conv_transpose2d(
    out: Tensor,
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    dilation: Ints,
) -> None:
    input = self if self.ndim == 4 else _unsqueeze(self, 0)
    convolution(out, input, weight, bias, stride, padding, dilation, True, output_padding, 1)
