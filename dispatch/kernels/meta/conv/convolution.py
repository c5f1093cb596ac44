# cython: annotation_typing=False
"""Shapes and layouts of convolutions, forward and backward, and of col2im.

Called by the structured kernels of `convolution`, `convolution_backward` and `col2im`. Sizes and
checks are those of PyTorch's `check_shape_forward`; the layout is the one that its choice of a CPU
implementation leads to (`determine_backend_memory_format`). Tensors on `meta` give contiguous
results, for there is no implementation to choose; a fake tensor shows the device it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch._C.dtypes import (
    bfloat16,
    channels_last,
    channels_last_3d,
    dtype,
    float16,
    float32,
    memory_format,
)
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import is_eager, numel, strides_for, suggest_memory_format

__all__ = ["col2im", "convolution", "convolution_backward"]

Ints = Sequence[int]

# Below these a single thread leaves a convolution to its own loops (PyTorch's use_mkldnn).
LARGE_IMAGE = 20480
LARGE_BATCH = 16


class Parameters(NamedTuple):
    """A convolution's numbers, one for each spatial dimension."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int


def expand(values: Ints, name: str, dims: int) -> tuple[int, ...]:
    """`values` for each of `dims` dimensions; one number serves all."""
    if len(values) == 1:
        return (values[0],) * dims
    if len(values) != dims:
        raise refused(
            f"{name} must be one number or {dims}, got {list(values)}"
        )
    return tuple(values)


def parameters(
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Parameters:
    dims = weight.ndim - 2
    if dims <= 0:
        raise refused(
            f"weight must have at least 3 dimensions, got {list(weight.shape)}"
        )
    return Parameters(
        expand(stride, "stride", dims),
        expand(padding, "padding", dims),
        expand(dilation, "dilation", dims),
        transposed,
        expand(output_padding, "output_padding", dims),
        groups,
    )


def check_numbers(p: Parameters) -> None:
    if min(p.padding) < 0:
        raise refused(f"negative padding {list(p.padding)}")
    if min(p.output_padding) < 0:
        raise refused(f"negative output_padding {list(p.output_padding)}")
    if min(p.stride) <= 0:
        raise refused(f"stride must be positive, got {list(p.stride)}")
    if min(p.dilation) < 0:
        raise refused(f"negative dilation {list(p.dilation)}")
    if p.groups <= 0:
        raise refused(f"groups must be positive, got {p.groups}")


def check_channels(
    sizes: Ints, weight: Ints, bias: Ints | None, p: Parameters
) -> None:
    """Channels of input, weight and bias agree, with `groups` between them."""
    if len(sizes) != len(weight):
        raise refused(
            f"weight {list(weight)} needs an input of {len(weight)} dimensions, "
            f"got {list(sizes)}"
        )
    if weight[0] < p.groups or weight[0] % p.groups:
        raise refused(
            f"the first size of weight {list(weight)} must be a multiple of "
            f"groups={p.groups}"
        )
    expected = weight[0] if p.transposed else weight[1] * p.groups
    if sizes[1] != expected:
        raise refused(
            f"weight {list(weight)} with groups={p.groups} needs an input of "
            f"{expected} channels, got {list(sizes)}"
        )
    out_channels = weight[1] * p.groups if p.transposed else weight[0]
    if bias is not None and (len(bias) != 1 or bias[0] != out_channels):
        raise refused(
            f"bias must have sizes [{out_channels}], got {list(bias)}"
        )


def check_shapes(sizes: Ints, weight: Ints, bias: Ints | None, p: Parameters) -> None:
    check_numbers(p)
    check_channels(sizes, weight, bias, p)
    if 0 in sizes[2:] and sizes[0] and sizes[1]:
        raise refused(
            f"only batch and channels of the input may be empty, got {list(sizes)}"
        )
    if p.transposed:
        return
    for size, kernel, padding, dilation in zip(
        sizes[2:], weight[2:], p.padding, p.dilation, strict=True
    ):
        if size + 2 * padding < dilation * (kernel - 1) + 1:
            raise refused(
                f"kernel {list(weight[2:])} with dilation {list(p.dilation)} is "
                f"larger than input {list(sizes[2:])} with padding {list(p.padding)}"
            )


def check_output_padding(input: Tensor, p: Parameters) -> None:
    """What PyTorch's kernels of the CPU look at, and its shape function does not."""
    if not p.transposed or input.device.type != "cpu" or not is_eager(input):
        return
    for after, stride, dilation in zip(p.output_padding, p.stride, p.dilation, strict=True):
        if after >= stride and after >= dilation:
            raise refused(
                "output_padding must be smaller than stride or dilation, got "
                f"{list(p.output_padding)}, {list(p.stride)} and {list(p.dilation)}"
            )


def output_sizes(sizes: Ints, weight: Ints, p: Parameters) -> list[int]:
    out = [sizes[0], weight[1] * p.groups if p.transposed else weight[0]]
    for i, (size, kernel) in enumerate(zip(sizes[2:], weight[2:], strict=True)):
        span = p.dilation[i] * (kernel - 1)
        if p.transposed:
            length = (size - 1) * p.stride[i] - 2 * p.padding[i] + span + p.output_padding[i] + 1
        else:
            length = (size + 2 * p.padding[i] - span - 1) // p.stride[i] + 1
        out.append(length)
    if sizes[1] == 0:
        out[1] = 0
    return out


# ---- layout ------------------------------------------------------------------------------------


def uses_onednn(sizes: Ints, weight: Tensor, kind: dtype, p: Parameters) -> bool:
    """Whether PyTorch's CPU build takes oneDNN for this convolution (use_mkldnn), on one thread."""
    if p.transposed and any(o >= s for o, s in zip(p.output_padding, p.stride, strict=True)):
        return False
    if kind is bfloat16 or kind is float16:
        return True
    if kind is not float32:
        return False
    kernel = weight.shape[2:]
    worth = (
        any(s != 1 for s in p.stride)
        or any(d != 1 for d in p.dilation)
        or sizes[0] >= LARGE_BATCH
        or kernel[-1] != 1
        or kernel[-2] != 1
    )
    return worth and (
        p.groups > 1
        or (kernel[-1] > 3 and kernel[-2] > 3)
        or sizes[0] > 1
        or numel(sizes[:4]) > LARGE_IMAGE
    )


def line_is_channels_last(sizes: Ints, strides: Ints) -> bool:
    """Whether a tensor of 3 dimensions suggests channels_last once it has a height of 1."""
    n, c, w = sizes
    sn, sc, sw = strides
    if sc == 0 or n == 0 or c == 0 or w == 0 or sw < sc * c:
        return False
    innermost = sw * w if w > 1 else sw
    return sn >= innermost and sn != sc


def layout_of(tensor: Tensor, weight: Tensor, p: Parameters) -> memory_format | None:
    """The memory format that results have; None: contiguous."""
    if tensor.device.type == "meta":
        return None
    if tensor.shape[0] == 0 or tensor.shape[1] == 0:
        return None
    if weight.ndim == 3:
        # An input that is not contiguous is copied first; with sizes of 1 its strides may be odd.
        lines = [weight, tensor] if tensor.is_contiguous() else [weight]
        found = any(line_is_channels_last(line.shape, line.stride()) for line in lines)
        return channels_last if found else None
    if weight.ndim == 4:
        wanted = channels_last
    elif weight.ndim == 5 and uses_onednn(tensor.shape, weight, tensor.dtype, p):
        wanted = channels_last_3d
    else:
        return None
    if suggest_memory_format(tensor) is wanted or suggest_memory_format(weight) is wanted:
        return wanted
    return None


def spec_of(sizes: Ints, kind: dtype, layout: memory_format | None) -> TensorSpec:
    if layout is None:
        return TensorSpec(sizes, kind)
    if len(sizes) == 3:
        n, c, w = sizes
        strides = strides_for((n, c, 1, w), layout)
        return TensorSpec(sizes, kind, (strides[0], strides[1], strides[3]))
    return TensorSpec(sizes, kind, strides_for(sizes, layout))


# ---- operators ---------------------------------------------------------------------------------


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> TensorSpec:
    if input.dtype is not weight.dtype:
        raise refused(
            f"input ({input.dtype}) and weight ({weight.dtype}) must have one dtype"
        )
    p = parameters(weight, stride, padding, dilation, transposed, output_padding, groups)
    sizes, kernel = input.shape, weight.shape
    check_shapes(sizes, kernel, None if bias is None else bias.shape, p)
    check_output_padding(input, p)
    out = output_sizes(sizes, kernel, p)
    # PyTorch looks for one dimension that is left; negative sizes never pass.
    if min(out) < 0 or (input.device.type != "cuda" and max(out[2:]) <= 0):
        raise refused(
            f"the output for input {list(sizes)} and weight {list(kernel)} would have "
            f"sizes {out}"
        )
    return spec_of(out, input.dtype, layout_of(input, weight, p))


def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Ints | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[TensorSpec | None, ...]:
    p = parameters(weight, stride, padding, dilation, transposed, output_padding, groups)
    check_shapes(input.shape, weight.shape, None, p)
    kind, layout = grad_output.dtype, layout_of(input, weight, p)
    if output_mask[2] and bias_sizes is None:
        raise refused("the gradient of bias needs bias_sizes")
    of_bias = None if bias_sizes is None or not output_mask[2] else TensorSpec(bias_sizes, kind)
    return (
        spec_of(input.shape, kind, layout) if output_mask[0] else None,
        spec_of(weight.shape, kind, layout) if output_mask[1] else None,
        of_bias,
    )


def check_two(name: str, values: Ints, least: int) -> None:
    if len(values) != 2:
        raise refused(f"{name} must have 2 numbers, got {list(values)}")
    if any(v < least for v in values):
        raise refused(f"{name} must be at least {least}, got {list(values)}")


def col2im(
    self: Tensor,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> TensorSpec:
    check_two("output_size", output_size, 1)
    check_two("kernel_size", kernel_size, 1)
    check_two("dilation", dilation, 1)
    check_two("padding", padding, 0)
    check_two("stride", stride, 1)
    sizes = self.shape
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise refused(
            f"self must have 2 or 3 dimensions, only the batch may be 0, got {list(sizes)}"
        )
    taps = kernel_size[0] * kernel_size[1]
    if sizes[-2] % taps:
        raise refused(
            f"size {sizes[-2]} of self {list(sizes)} is not a multiple of the "
            f"{taps} taps of kernel_size {list(kernel_size)}"
        )
    blocks = 1
    for i in range(2):
        room = output_size[i] + 2 * padding[i] - dilation[i] * (kernel_size[i] - 1) - 1
        blocks *= room // stride[i] + 1
    if blocks <= 0 or sizes[-1] != blocks:
        raise refused(
            f"output_size {list(output_size)} has {blocks} blocks, got self {list(sizes)}"
        )
    made = (*sizes[:-2], sizes[-2] // taps, *output_size)
    if 0 in made and is_eager(self):     # nothing is written, so PyTorch looks at no dtype
        return TensorSpec(made, self.dtype, cast="any", overlap="any")
    return TensorSpec(made, self.dtype, copied=True)
