"""CPU bodies over the two halves of a tensor (glu) or the two parts of complex numbers.

Called by the structured kernel, or as a whole kernel of an out variant. The arithmetic is that of
other operators, written into a half of the output; 16-bit floats stay float32 in between.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import check_dtype, is_narrow
from dispatch.kernels.meta import rules

__all__ = ["complex_out", "glu", "glu_backward", "glu_backward_jvp", "glu_jvp", "polar_out"]

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
    """How the gradient moves with x and with the gradient that came."""
    first, second = _aten.chunk(x, 2, dim)
    d_first, d_second = _aten.chunk(dx, 2, dim)
    gate = _aten.sigmoid(second)
    d_gate = _aten.sigmoid_backward(d_second, gate)
    moved_first = dgrad_glu * gate + grad_glu * d_gate
    slope = _slope(gate, first)
    d_slope = _slope(gate, d_first) + first * d_gate * (1 - 2 * gate)
    moved_second = dgrad_glu * slope + grad_glu * d_slope
    result: Tensor = _aten.cat([moved_first, moved_second], dim)
    return result


# ---- complex numbers from two parts ------------------------------------------------------------

_PAIRED = {
    dtypes.float16: dtypes.complex32,
    dtypes.float32: dtypes.complex64,
    dtypes.float64: dtypes.complex128,
}


def _parts(out: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    if first.dtype is not second.dtype or _PAIRED.get(first.dtype) is not out.dtype:
        raise refused(f"{first.dtype} and {second.dtype} do not make out of {out.dtype}")
    sizes = list(rules.broadcast_shapes(list(first.shape), list(second.shape)))
    if list(out.shape) != sizes:
        _aten.resize_(out, sizes)
    parts = _aten.view_as_real(out)
    return _aten.select.int(parts, -1, 0), _aten.select.int(parts, -1, 1)


def complex_out(real: Tensor, imag: Tensor, *, out: Tensor) -> Tensor:
    """Real and imaginary parts."""
    x, y = _parts(out, real, imag)
    _aten.copy_(x, real)
    _aten.copy_(y, imag)
    return out


def polar_out(abs: Tensor, angle: Tensor, *, out: Tensor) -> Tensor:
    """Lengths and angles."""
    check_dtype(abs.dtype, (dtypes.float32, dtypes.float64))
    x, y = _parts(out, abs, angle)
    _aten.mul.out(abs, _aten.cos(angle), out=x)
    _aten.mul.out(abs, _aten.sin(angle), out=y)
    return out
