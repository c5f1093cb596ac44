"""Convolutions under the names of PyTorch's kernels for them, all of them by `convolution`.

`slow_conv*`, `thnn_conv2d` and `conv_tbc` are what programs and autograd formulas of PyTorch call;
each checks what its kernel there checks beyond the checks of `convolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C.dtypes import contiguous_format, int64
from dispatch._C.errors import refused, unserved
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.rules import is_eager, suggest_memory_format

__all__ = [
    "_slow_conv2d_backward",
    "_slow_conv2d_backward_out",
    "_slow_conv2d_forward",
    "_slow_conv2d_forward_out",
    "conv_tbc",
    "conv_tbc_backward",
    "slow_conv3d",
    "slow_conv3d_forward",
    "slow_conv3d_forward_out",
    "slow_conv_dilated2d",
    "slow_conv_dilated3d",
    "slow_conv_transpose3d",
    "slow_conv_transpose3d_out",
    "thnn_conv2d",
]

Ints = Sequence[int]

_addmm_ = ops.aten.addmm_.default
_convolution = ops.aten.convolution.default
_convolution_backward = ops.aten.convolution_backward.default
_copy_ = ops.aten.copy_.default
_empty = ops.aten.empty.memory_format
_expand = ops.aten.expand.default
_narrow = ops.aten.narrow.default
_reshape = ops.aten.reshape.default
_resize_ = ops.aten.resize_.default
_select = ops.aten.select.int
_slow_conv2d = ops.aten._slow_conv2d_forward.default
_slow_conv2d_output = ops.aten._slow_conv2d_forward.output
_contiguous = ops.aten.contiguous.default
_slow_conv3d = ops.aten.slow_conv3d_forward.default
_slow_conv3d_output = ops.aten.slow_conv3d_forward.output
_squeeze = ops.aten.squeeze.dim
_sum = ops.aten.sum.dim_IntList
_transpose = ops.aten.transpose.int
_unsqueeze = ops.aten.unsqueeze.default
_view = ops.aten.view.default
_zeros_like = ops.aten.zeros_like.default


def into(out: Tensor, made: Tensor) -> Tensor:
    """A given output filled with a result of any size."""
    if out.dtype is not made.dtype:
        raise refused(f"expected out to be {made.dtype}, got {out.dtype}")
    if out.shape != made.shape:
        _resize_(out, made.shape, memory_format=suggest_memory_format(made))
    return _copy_(out, made)


def into_given(name: str, kernel: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The kernel of the out variant, whose output is called `name`."""

    def kernel_out(*args: Any, **options: Any) -> Tensor:
        return into(options.pop(name), kernel(*args, **options))

    return kernel_out


def check_dims(self: Tensor, weight: Tensor, kernel_size: Ints, dims: int, batched: bool) -> None:
    least = dims + 2 if batched else dims + 1
    if not least <= self.ndim <= dims + 2:
        raise refused(f"expected self to have {dims + 2} dimensions, got {list(self.shape)}")
    if len(kernel_size) != dims or tuple(weight.shape[2:]) != tuple(kernel_size):
        raise refused(
            f"expected weight {list(weight.shape)} to end with kernel_size {list(kernel_size)}"
        )


def convolved(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    output_padding: Ints | None = None,
) -> Tensor:
    """`output_padding`: of a transposed convolution."""
    batched = self.ndim == weight.ndim
    input = self if batched else _unsqueeze(self, 0)
    transposed = output_padding is not None
    after = output_padding or [0] * len(stride)
    out = _convolution(input, weight, bias, stride, padding, dilation, transposed, after, 1)
    return out if batched else _squeeze(out, 0)


# ---- two dimensions ----------------------------------------------------------------------------


def _slow_conv2d_forward(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
) -> Tensor:
    check_dims(self, weight, kernel_size, 2, True)
    return convolved(self, weight, bias, stride, padding, [1, 1])


_slow_conv2d_forward_out = into_given("output", _slow_conv2d_forward)


def _slow_conv2d_backward(
    grad_output: Tensor,
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    check_dims(self, weight, kernel_size, 2, True)
    if not grad_output.dtype.is_floating_point:
        raise unserved(grad_output.dtype)
    sizes = [weight.shape[0]]
    geometry = stride, padding, [1, 1], False, [0, 0], 1
    grads: tuple[Tensor | None, Tensor | None, Tensor | None] = _convolution_backward(
        grad_output, self, weight, sizes, *geometry, output_mask
    )
    return grads


def _slow_conv2d_backward_out(
    grad_output: Tensor,
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    *,
    grad_input: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    outs = grad_input, grad_weight, grad_bias
    everything = [True, True, True]
    grads = _slow_conv2d_backward(
        grad_output, self, weight, kernel_size, stride, padding, everything
    )
    for out, made in zip(outs, grads, strict=True):
        if made is not None:
            into(out, made)
    return outs


def thnn_conv2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None = None,
    stride: Ints = (1, 1),
    padding: Ints = (0, 0),
    *,
    out: Tensor | None = None,
) -> Tensor:
    if out is None:
        return _slow_conv2d(self, weight, kernel_size, bias, stride, padding)
    return _slow_conv2d_output(self, weight, kernel_size, bias, stride, padding, output=out)


def slow_conv_dilated2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None = None,
    stride: Ints = (1, 1),
    padding: Ints = (0, 0),
    dilation: Ints = (1, 1),
) -> Tensor:
    return dilated(2, self, weight, kernel_size, bias, stride, padding, dilation)


def dilated(
    dims: int,
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> Tensor:
    check_dims(self, weight, kernel_size, dims, False)
    kind = self.dtype
    if not kind.is_floating_point and kind is not int64:
        raise unserved(kind)
    return convolved(self, weight, bias, stride, padding, dilation)


# ---- three dimensions --------------------------------------------------------------------------


def _dense(self: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Both contiguous: the result is, whatever the operands' memory format."""
    return _contiguous(self), _contiguous(weight)


def slow_conv3d_forward(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
) -> Tensor:
    check_dims(self, weight, kernel_size, 3, True)
    return convolved(*_dense(self, weight), bias, stride, padding, [1, 1, 1])


slow_conv3d_forward_out = into_given("output", slow_conv3d_forward)


def slow_conv3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None = None,
    stride: Ints = (1, 1, 1),
    padding: Ints = (0, 0, 0),
    *,
    out: Tensor | None = None,
) -> Tensor:
    if out is None:
        return _slow_conv3d(self, weight, kernel_size, bias, stride, padding)
    return _slow_conv3d_output(self, weight, kernel_size, bias, stride, padding, output=out)


def slow_conv_dilated3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None = None,
    stride: Ints = (1, 1, 1),
    padding: Ints = (0, 0, 0),
    dilation: Ints = (1, 1, 1),
) -> Tensor:
    return dilated(3, self, weight, kernel_size, bias, stride, padding, dilation)


def slow_conv_transpose3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Ints,
    bias: Tensor | None = None,
    stride: Ints = (1, 1, 1),
    padding: Ints = (0, 0, 0),
    output_padding: Ints = (0, 0, 0),
    dilation: Ints = (1, 1, 1),
) -> Tensor:
    check_dims(self, weight, kernel_size, 3, False)
    return convolved(*_dense(self, weight), bias, stride, padding, dilation, output_padding)


slow_conv_transpose3d_out = into_given("out", slow_conv_transpose3d)


# ---- time, batch, channels ---------------------------------------------------------------------


def check_tbc(self: Tensor, weight: Tensor, bias: Tensor) -> None:
    if self.ndim != 3 or weight.ndim != 3 or bias.ndim != 1:
        raise refused(
            "expected self (time, batch, channels), weight (taps, channels in, channels out) and "
            f"bias (channels out), got {list(self.shape)}, {list(weight.shape)} and "
            f"{list(bias.shape)}"
        )
    if self.shape[2] != weight.shape[1] or bias.shape[0] != weight.shape[2]:
        raise refused(
            f"self {list(self.shape)} and bias {list(bias.shape)} do not fit weight "
            f"{list(weight.shape)}"
        )


def shifts(length: int, out: int, taps: int, pad: int) -> list[tuple[int, int, int, int]]:
    """Tap, first input, first output and how many steps of time they share."""
    found = []
    for k in range(taps):
        first, there = max(0, k - pad), max(0, pad - k)
        count = min(length + pad - k, out) - there
        if count > 0:
            found.append((k, first, there, count))
    return found


def rows(tensor: Tensor, first: int, count: int) -> Tensor:
    """Steps of time as rows of a matrix."""
    part = _narrow(tensor, 0, first, count)
    return _reshape(part, [count * tensor.shape[1], tensor.shape[2]])


def conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    check_tbc(self, weight, bias)
    length, batch, _ = self.shape
    taps, _, channels = weight.shape
    steps = length - taps + 1 + pad * 2
    out = _empty([steps, batch, channels], dtype=self.dtype, device=self.device)
    _copy_(out, _expand(bias, [steps, batch, channels]))
    for k, first, there, count in shifts(length, steps, taps, pad) if is_eager(self) else ():
        part = _view(_narrow(out, 0, there, count), [count * batch, channels])
        _addmm_(part, rows(self, first, count), _select(weight, 0, k))
    return out


def conv_tbc_backward(
    self: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    """`self`: the gradient of the result."""
    check_tbc(input, weight, bias)
    steps = input.shape[0] - weight.shape[0] + 1 + pad * 2
    if list(self.shape) != [steps, input.shape[1], weight.shape[2]]:
        raise refused(
            f"expected a gradient of shape {[steps, input.shape[1], weight.shape[2]]},"
            f" got {list(self.shape)}"
        )
    layout = {"memory_format": contiguous_format}
    of_input, of_weight = _zeros_like(input, **layout), _zeros_like(weight, **layout)
    taps = weight.shape[0]
    for k, first, there, count in (
        shifts(input.shape[0], self.shape[0], taps, pad) if is_eager(self) else ()
    ):
        grad = rows(self, there, count)
        target = _narrow(of_input, 0, first, count)
        part = _view(target, [count * input.shape[1], input.shape[2]])
        _addmm_(part, grad, _transpose(_select(weight, 0, k), 0, 1))
        seen = _transpose(rows(input, first, count), 0, 1)
        _addmm_(_select(of_weight, 0, k), seen, grad)
    return of_input, of_weight, _sum(self, [0, 1])
