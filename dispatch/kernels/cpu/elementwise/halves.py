"""CPU kernels over the two halves of a tensor: how glu and its gradient move with what they read.

Called as whole kernels. The arithmetic is that of other operators.
"""

from __future__ import annotations

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["glu_backward_jvp", "glu_jvp"]

_aten = ops.aten


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
