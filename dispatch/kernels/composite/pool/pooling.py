# cython: annotation_typing=False
"""Pools written with other pools: one dimension by two, adaptive to size 1 by a mean."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.dtypes import channels_last, channels_last_3d
from dispatch._C.errors import refused, unserved
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.matrix.matmul import is_plain
from dispatch.kernels.cpu.pool.pooling import max_line
from dispatch.kernels.meta.rules import is_eager, strides_for, suggest_memory_format

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_out",
    "adaptive_avg_pool3d",
    "adaptive_avg_pool3d_backward_out",
    "adaptive_avg_pool3d_out",
    "adaptive_max_pool1d",
    "avg_pool1d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
]

Ints = Sequence[int]

_adaptive_avg_pool2d = ops.aten._adaptive_avg_pool2d.default
_adaptive_avg_pool2d_out = ops.aten._adaptive_avg_pool2d.out
_adaptive_avg_pool2d_implicit = ops.aten.adaptive_avg_pool2d.default
_adaptive_avg_pool3d = ops.aten._adaptive_avg_pool3d.default
_adaptive_avg_pool3d_backward_out = ops.aten._adaptive_avg_pool3d_backward.out
_adaptive_avg_pool3d_out = ops.aten._adaptive_avg_pool3d.out
_adaptive_max_pool2d = ops.aten.adaptive_max_pool2d.default
_as_strided_ = ops.aten.as_strided_.default
_avg_pool2d = ops.aten.avg_pool2d.default
_copy_ = ops.aten.copy_.default
_max_pool2d_with_indices = ops.aten.max_pool2d_with_indices.default
_max_pool3d_with_indices = ops.aten.max_pool3d_with_indices.default
_mean = ops.aten.mean.dim
_resize_ = ops.aten.resize_.default
_squeeze = ops.aten.squeeze.dim
_unsqueeze = ops.aten.unsqueeze.default


_NEGATIVE = "elements of output_size must be greater than or equal to 0 but received"


def check_line(self: Tensor, **numbers: Ints) -> None:
    """One spatial dimension, batched or not, and one number for each argument."""
    if self.ndim not in (2, 3):
        raise refused(
            "Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(self.shape)}"
        )
    for name, values in numbers.items():
        if len(values) != 1:
            raise refused(f"argument '{name}' should contain one int (got {len(values)})")


def avg_pool1d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    stride = stride or kernel_size
    check_line(self, kernel_size=kernel_size, stride=stride, padding=padding)
    pooled = _avg_pool2d(
        _unsqueeze(self, -2),
        [1, kernel_size[0]],
        [1, stride[0]],
        [0, padding[0]],
        ceil_mode,
        count_include_pad,
    )
    return _squeeze(pooled, -2)


def adaptive_avg_pool1d(self: Tensor, output_size: Ints) -> Tensor:
    check_line(self, output_size=output_size)
    return _squeeze(_adaptive_avg_pool2d_implicit(_unsqueeze(self, -2), [1, output_size[0]]), -2)


def adaptive_avg_pool2d(self: Tensor, output_size: Ints) -> Tensor:
    if len(output_size) != 2:
        raise RuntimeError(f"adaptive_avg_pool2d: output_size must be 2, got {list(output_size)}")
    if any(n < 0 for n in output_size):
        raise RuntimeError(f"adaptive_avg_pool2d: {_NEGATIVE} {list(output_size)}")
    if tuple(output_size) != (1, 1):
        return _adaptive_avg_pool2d(self, output_size)
    out = _mean(self, [-1, -2], True)
    if suggest_memory_format(self) is channels_last:
        n, c = self.shape[:2]
        out = _as_strided_(out, [n, c, 1, 1], [c, 1, c, c])
    return out


def adaptive_avg_pool2d_out(self: Tensor, output_size: Ints, *, out: Tensor) -> Tensor:
    """Into `out`, which takes a batch's memory format whatever its own is."""
    sizes, layout = [*self.shape[:-2], *output_size], suggest_memory_format(self)
    laid = list(out.shape) == sizes and out.stride() == strides_for(sizes, layout)
    if laid or self.ndim != 4 or out.dtype is not self.dtype:
        return _adaptive_avg_pool2d_out(self, output_size, out=out)
    result = _adaptive_avg_pool2d(self, output_size)
    return _copy_(_resize_(out, sizes, memory_format=layout), result)


def max_pool2d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    return _max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


def max_pool1d_with_indices(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    stride = stride or kernel_size
    check_line(
        self, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    values, indices = _max_pool2d_with_indices(
        _unsqueeze(self, -2),
        [1, kernel_size[0]],
        [1, stride[0]],
        [0, padding[0]],
        [1, dilation[0]],
        ceil_mode,
    )
    return _squeeze(values, -2), _squeeze(indices, -2)


def max_pool1d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    if is_eager(self) and self.device.type == "cpu" and not self.dtype.is_floating_point:
        raise unserved(self.dtype)
    if is_plain(self) and self.device.type == "cpu" and not (ceil_mode or self.is_neg()):
        # nobody asks where the largest are
        step = stride or kernel_size
        check_line(self, kernel_size=kernel_size, stride=step, padding=padding, dilation=dilation)
        found = max_line(self, kernel_size[0], step[0], padding[0], dilation[0])
        if found is not None:
            return found
    return max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


def max_pool3d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    return _max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


def adaptive_max_pool1d(self: Tensor, output_size: Ints) -> tuple[Tensor, Tensor]:
    check_line(self, output_size=output_size)
    values, indices = _adaptive_max_pool2d(_unsqueeze(self, -2), [1, output_size[0]])
    indices = _squeeze(indices, -2)
    return _squeeze(values, -2), indices


def adaptive_avg_pool3d(self: Tensor, output_size: Ints) -> Tensor:
    if len(output_size) != 3:
        raise refused(f"output_size must be 3, got {list(output_size)}")
    if any(n < 0 for n in output_size):
        raise refused(f"{_NEGATIVE} {list(output_size)}")
    if tuple(output_size) != (1, 1, 1):
        return _adaptive_avg_pool3d(self, output_size)
    out = _mean(self, [-1, -2, -3], True)
    if suggest_memory_format(self) is channels_last_3d:
        n, c = self.shape[:2]
        out = _as_strided_(out, [n, c, 1, 1, 1], [c, 1, c, c, c])
    return out


def adaptive_avg_pool3d_out(self: Tensor, output_size: Ints, *, out: Tensor) -> Tensor:
    return _adaptive_avg_pool3d_out(self, output_size, out=out)


def adaptive_avg_pool3d_backward_out(
    grad_output: Tensor, self: Tensor, *, grad_input: Tensor
) -> Tensor:
    return _adaptive_avg_pool3d_backward_out(grad_output, self, out=grad_input)
