"""Shapes of pooling: windows along the last dimensions, adaptive pooling, and their gradients.

Called by the structured kernels of the pools. `Window` holds what one spatial dimension does; the
rules are PyTorch's (pooling_output_shape, pool2d_shape_check, pool3d_shape_check). Results of two
spatial dimensions keep the memory format that the input suggests. The bodies get the windows too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch._C.dtypes import (
    channels_last,
    channels_last_3d,
    dtype,
    int64,
    uint8,
)
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import WIDE_UNSIGNED
from dispatch._C.keys import DispatchKey
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor, _dispatch_keys
from dispatch.kernels.meta.rules import strides_for, suggest_memory_format

__all__ = [
    "Window",
    "adaptive_avg_pool",
    "adaptive_avg_pool2d_out",
    "adaptive_avg_pool_backward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool3d",
]

Ints = Sequence[int]

NOT_AVERAGED = WIDE_UNSIGNED | {uint8}


class Window(NamedTuple):
    """Pooling along one dimension."""

    kernel: int
    stride: int
    padding: int
    dilation: int


def per_dimension(name: str, values: Ints, dims: int) -> list[int]:
    if len(values) not in (1, dims):
        raise refused(f"{name} must be one number or {dims}, got {list(values)}")
    return [values[0]] * dims if len(values) == 1 else list(values)


def windows(
    dims: int, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints = (1,)
) -> list[Window]:
    """One Window for each spatial dimension; without `stride` windows do not overlap."""
    columns = (
        per_dimension("kernel_size", kernel_size, dims),
        per_dimension("stride", stride or kernel_size, dims),
        per_dimension("padding", padding, dims),
        per_dimension("dilation", dilation, dims),
    )
    return [Window(*numbers) for numbers in zip(*columns, strict=True)]


def check_window(w: Window) -> None:
    if w.kernel <= 0 or w.stride <= 0 or w.dilation <= 0:
        raise refused(f"kernel size, stride and dilation must be positive, got {w}")
    if w.padding < 0:
        raise refused(f"padding must not be negative, got {w}")
    if w.padding > ((w.kernel - 1) * w.dilation + 1) // 2 or w.padding > w.kernel // 2:
        raise refused(f"padding must be at most half the kernel size, got {w}")


def output_length(size: int, w: Window, ceil_mode: bool) -> int:
    room = size + 2 * w.padding - w.dilation * (w.kernel - 1) - 1
    length = (room + (w.stride - 1 if ceil_mode else 0)) // w.stride + 1
    if ceil_mode and (length - 1) * w.stride >= size + w.padding:
        length -= 1  # the last window would begin in the padding on the right
    return length


def pooled_sizes(sizes: Ints, ws: Sequence[Window], ceil_mode: bool) -> tuple[int, ...]:
    """Output sizes for (batch,) channels and one dimension for each window."""
    dims = len(ws)
    if len(sizes) < 3:
        raise refused(f"input must have {dims + 1} dimensions, got {list(sizes)}", IndexError)
    if len(sizes) not in (dims + 1, dims + 2):
        raise refused(f"input must have {dims + 1} or {dims + 2} dimensions, got {list(sizes)}")
    for w in ws:
        check_window(w)
    if 0 in sizes[len(sizes) - dims - 1 :]:
        raise refused(f"only the batch of the input may be empty, got {list(sizes)}")
    out = [output_length(size, w, ceil_mode) for size, w in zip(sizes[-dims:], ws, strict=True)]
    if min(out) < 1:
        raise refused(f"input {list(sizes)} is too small, the output would be {out}")
    return (*sizes[:-dims], *out)


def check_divisor(divisor_override: int | None) -> None:
    if divisor_override == 0:
        raise refused("divisor_override must not be 0")


def check_averaged(self: Tensor) -> None:
    """PyTorch's rule for fake and meta tensors; for real ones the CPU body says what it can do."""
    if self.device.type == "cpu" and not _dispatch_keys(self).has(DispatchKey.Python):
        return
    if self.dtype in NOT_AVERAGED:
        raise refused(f"not implemented for {self.dtype}")


def check_gradient(name: str, given: Ints, wanted: Ints, dims: int = 3) -> None:
    """`given` has the output's dimensions; a batch of another size is not looked at."""
    if len(given) != len(wanted) or tuple(given[-dims:]) != tuple(wanted[-dims:]):
        raise refused(f"{name} must have sizes {list(wanted)}, got {list(given)}")


def spec_like(tensor: Tensor, sizes: Ints, kind: dtype, copied: bool = False) -> TensorSpec:
    """An output in the memory format that `tensor`, of as many dimensions, suggests."""
    strides = strides_for(sizes, suggest_memory_format(tensor))
    return TensorSpec(sizes, kind, strides, copied=copied)


# ---- windows -----------------------------------------------------------------------------------


def avg_pool2d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Shaped:
    check_averaged(self)
    ws = windows(2, kernel_size, stride, padding)
    check_divisor(divisor_override)
    return Shaped(spec_like(self, pooled_sizes(self.shape, ws, ceil_mode), self.dtype), ws)


def avg_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Shaped:
    ws = windows(2, kernel_size, stride, padding)
    check_divisor(divisor_override)
    pooled = pooled_sizes(self.shape, ws, ceil_mode)
    check_gradient("grad_output", grad_output.shape, pooled)
    return Shaped(spec_like(self, self.shape, self.dtype), ws)


def avg_pool3d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Shaped:
    check_averaged(self)
    ws = windows(3, kernel_size, stride, padding)
    check_divisor(divisor_override)
    pooled = pooled_sizes(self.shape, ws, ceil_mode)
    if any(size < w.kernel for size, w in zip(self.shape[-3:], ws, strict=True)):
        raise refused(f"input {list(self.shape)} is smaller than kernel_size {list(kernel_size)}")
    return Shaped(TensorSpec(pooled, self.dtype, copied=True), ws)


def max_pool2d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> Shaped:
    ws = windows(2, kernel_size, stride, padding, dilation)
    pooled = pooled_sizes(self.shape, ws, ceil_mode)
    specs = spec_like(self, pooled, self.dtype, True), spec_like(self, pooled, int64, True)
    return Shaped(specs, ws)


def max_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    indices: Tensor,
) -> TensorSpec:
    ws = windows(2, kernel_size, stride, padding, dilation)
    pooled = pooled_sizes(self.shape, ws, ceil_mode)
    if self.dtype is not grad_output.dtype:
        raise refused(f"grad_output must be {self.dtype}, got {grad_output.dtype}")
    check_gradient("grad_output", grad_output.shape, pooled)
    check_gradient("indices", indices.shape, pooled)
    return spec_like(self, self.shape, self.dtype, True)


def max_pool3d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> Shaped:
    ws = windows(3, kernel_size, stride, padding, dilation)
    pooled = pooled_sizes(self.shape, ws, ceil_mode)
    strides = None
    if self.ndim == 5 and suggest_memory_format(self) is channels_last_3d:
        strides = strides_for(pooled, channels_last_3d)
    kinds = (self.dtype, int64)
    return Shaped(tuple(TensorSpec(pooled, kind, strides, copied=True) for kind in kinds), ws)


# ---- adaptive ----------------------------------------------------------------------------------


def adaptive_avg_pool(self: Tensor, output_size: Ints) -> TensorSpec:
    """Two or three spatial dimensions: as many as `output_size` has."""
    dims = len(output_size)
    if self.ndim not in (dims + 1, dims + 2):
        raise refused(f"self must have {dims + 1} or {dims + 2} dimensions, got {list(self.shape)}")
    if min(output_size) < 0:
        raise refused(f"output_size must not be negative, got {list(output_size)}")
    if 0 in self.shape[-dims:]:
        raise refused(f"self must have elements to average, got {list(self.shape)}")
    sizes = (*self.shape[:-dims], *output_size)
    return TensorSpec(sizes, self.dtype) if dims == 3 else spec_like(self, sizes, self.dtype)


def adaptive_avg_pool2d_out(self: Tensor, output_size: Ints, *, out: Tensor) -> Tensor:
    """Checks only: PyTorch has no Meta kernel, and its fake tensors leave `out` as it is."""
    spec = adaptive_avg_pool(self, output_size)
    if out.dtype is not spec.dtype:
        raise refused(f"out must be {spec.dtype}, got {out.dtype}")
    return out


def adaptive_avg_pool_backward(grad_output: Tensor, self: Tensor) -> TensorSpec:
    if 0 in grad_output.shape[1:]:
        raise refused(f"only the batch of grad_output may be empty, got {list(grad_output.shape)}")
    if grad_output.ndim not in (3, 4):
        raise refused(f"grad_output must have 3 or 4 dimensions, got {list(grad_output.shape)}")
    if self.dtype is not grad_output.dtype:
        raise refused(f"grad_output must be {self.dtype}, got {grad_output.dtype}")
    strides = None
    if suggest_memory_format(self) is channels_last:
        strides = strides_for(self.shape, channels_last)
    return TensorSpec(self.shape, self.dtype, strides)
