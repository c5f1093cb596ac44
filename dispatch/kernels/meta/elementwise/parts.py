"""Meta kernels of numbers out of two parts: the sizes of both, broadcast."""

from __future__ import annotations

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["complex_out", "polar_out"]

_aten = ops.aten


def complex_out(real: Tensor, imag: Tensor, *, out: Tensor) -> Tensor:
    """Broadcast; an output that is resized lies in memory as elementwise results do."""
    sizes = list(rules.broadcast_shapes(list(real.shape), list(imag.shape)))
    if list(out.shape) == sizes:
        return out
    strides = rules.elementwise_strides(sizes, (real, imag))
    return _aten.as_strided_(_aten.resize_(out, sizes), sizes, strides)


def polar_out(abs: Tensor, angle: Tensor, *, out: Tensor) -> Tensor:
    """Broadcast."""
    return complex_out(abs, angle, out=out)
