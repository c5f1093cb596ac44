"""Meta kernels of numbers out of two parts: the sizes of both, broadcast."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.placement import check_together
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["complex_out", "polar_out"]

_aten = ops.aten


def _whole(first: Tensor, second: Tensor) -> dtypes.dtype:
    """The dtype that both parts make."""
    for t in (first, second):
        if not t.dtype.is_floating_point:
            raise refused(f"expected a floating dtype, got {t.dtype}", AssertionError)
    return rules.result_type(first, second).to_complex()


def _sized(first: Tensor, second: Tensor, out: Tensor) -> Tensor:
    """Broadcast; an output that is resized lies in memory as elementwise results do."""
    check_together(first=first, second=second)
    check_placed(first, out)
    sizes = list(rules.broadcast_shapes(list(first.shape), list(second.shape)))
    if list(out.shape) == sizes:
        return out
    strides = rules.elementwise_strides(sizes, (first, second))
    return _aten.as_strided_(_aten.resize_(out, sizes), sizes, strides)


def complex_out(real: Tensor, imag: Tensor, *, out: Tensor) -> Tensor:
    """Broadcast, into any complex dtype."""
    kind = _whole(real, imag)
    if not out.dtype.is_complex:
        raise refused(f"{kind} cannot be cast to the dtype of out, {out.dtype}")
    return _sized(real, imag, out)


def polar_out(abs: Tensor, angle: Tensor, *, out: Tensor) -> Tensor:
    """Broadcast, into the dtype of both."""
    kind = _whole(abs, angle)
    if out.dtype is not kind:
        raise refused(f"expected out to be {kind}, got {out.dtype}")
    return _sized(abs, angle, out)
