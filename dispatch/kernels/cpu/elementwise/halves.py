"""CPU bodies over the two halves of a tensor: glu and its gradients.

Called by the structured kernel, or as a whole kernel. The arithmetic is that of other operators,
written into a half of the output; 16-bit floats stay float32 in between.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import check_dtype, is_narrow

__all__ = ["glu", "glu_backward", "glu_backward_jvp", "glu_jvp"]

_aten = ops.aten


def _wide(tensor: Tensor) -> Tensor:
    wide: Tensor = _aten.to.dtype(tensor, dtypes.float32) if is_narrow(tensor.dtype) else tensor
    return wide


def glu(out: Tensor, self: Tensor, dim: int) -> None:
    """One half times the sigmoid of the other."""
    check_dtype(self.dtype, FLOATING)
    first, second = _aten.chunk(self, 2, dim)
    _aten.mul.out(first, _aten.sigmoid(_wide(second)), out=out)


def glu_backward(grad_input: Tensor, grad_output: Tensor, self: Tensor, dim: int) -> None:
    """The sigmoid, and the other half times its slope."""
    check_dtype(self.dtype, FLOATING)
    first, second = (_wide(half) for half in _aten.chunk(self, 2, dim))
    to_first, to_second = _aten.chunk(grad_input, 2, dim)
    gate = _aten.sigmoid(second)
    grad = _wide(grad_output)
    _aten.mul.out(grad, gate, out=to_first)
    _aten.mul.out(_slope(gate, first), grad, out=to_second)


def _slope(gate: Tensor, times: Tensor) -> Tensor:
    slope: Tensor = _aten.sigmoid_backward(times, gate)
    return slope


def glu_jvp(glu: Tensor, x: Tensor, dx: Tensor, dim: int) -> Tensor:
    """How the result moves with x."""
    _, second = _aten.chunk(x, 2, dim)
    d_first, d_second = _aten.chunk(dx, 2, dim)
    gate = _aten.sigmoid(second)
    result: Tensor = d_first * gate + glu * (d_second - gate * d_second)
    return result


def glu_backward_jvp(
    grad_x: Tensor, grad_glu: Tensor, x: Tensor, dgrad_glu: Tensor, dx: Tensor, dim: int
) -> Tensor:
    """How the gradient `grad_x` moves with x and with the gradient `grad_glu` that came.

    The first half of `grad_x` is `grad_glu * gate`, and is used for that.
    """
    first, second = _aten.chunk(x, 2, dim)
    d_first, d_second = _aten.chunk(dx, 2, dim)
    grad_first, _ = _aten.chunk(grad_x, 2, dim)
    gate = _aten.sigmoid(second)
    closed = 1 - gate
    moved_first = dgrad_glu * gate + grad_first * closed * d_second
    d_slope = d_first - first * gate * d_second
    moved_second = closed * (moved_first * first + grad_first * d_slope)
    result: Tensor = _aten.cat([moved_first, moved_second], dim)
    return result
