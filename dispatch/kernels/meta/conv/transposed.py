"""The shape function of slow_conv_transpose2d: an output in the memory format of self."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.dtypes import channels_last
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import is_eager, same_sizes, strides_for, suggest_memory_format

__all__ = ["slow_conv_transpose2d"]

Ints = Sequence[int]


def slow_conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    dilation: Ints,
) -> TensorSpec:
    """An unbatched self counts as a batch of one."""
    for name, values, least in (
        ("kernel_size", kernel_size, 1),
        ("stride", stride, 1),
        ("padding", padding, None),
        ("output_padding", output_padding, None),
        ("dilation", dilation, 1),
    ):
        if len(values) != 2:
            raise refused(f"expected {name} to have 2 numbers, got {list(values)}")
        if least is not None and any(v < least for v in values):
            raise refused(f"expected {name} to be positive, got {list(values)}")
    for after, s, d in zip(output_padding, stride, dilation, strict=True):
        if after < 0 or (after >= s and after >= d):
            raise refused(
                "output padding must be smaller than either stride or dilation, got "
                f"{list(output_padding)}, {list(stride)} and {list(dilation)}"
            )
    if self.ndim not in (3, 4) or 0 in self.shape[self.ndim - 3 :]:
        raise refused(f"expected self to have 3 or 4 dimensions, got {list(self.shape)}")
    if weight.ndim != 4 or not same_sizes(weight.shape[2:], kernel_size):
        raise refused(f"weight {list(weight.shape)} does not fit kernel_size {list(kernel_size)}")
    if not same_sizes(weight.shape[:1], self.shape[-3:-2]):
        raise refused(f"weight {list(weight.shape)} does not fit self {list(self.shape)}")
    if bias is not None and not same_sizes(bias.shape, weight.shape[1:2]):
        raise refused(f"bias must have {weight.shape[1]} elements, got {list(bias.shape)}")
    made = [
        (self.shape[i - 2] - 1) * stride[i]
        - 2 * padding[i]
        + dilation[i] * (kernel_size[i] - 1)
        + output_padding[i]
        + 1
        for i in range(2)
    ]
    if any(n < 1 for n in made):
        raise refused(f"self {list(self.shape)} is too small, the output would be {made}")
    batch = self.shape[0] if self.ndim == 4 else 1
    sizes = (batch, weight.shape[1], *made)
    strides = None
    kept = self.ndim == 4 and is_eager(self)         # PyTorch's Meta kernel does not look
    if kept and suggest_memory_format(self) is channels_last:
        strides = strides_for(sizes, channels_last)
    return TensorSpec(sizes, self.dtype, strides)
