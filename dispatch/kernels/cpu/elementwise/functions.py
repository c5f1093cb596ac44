"""CPU bodies of more elementwise operators, a table beside `pointwise`.

Called by the structured kernels with an output of the right sizes; `elementwise.run` does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import (
    BOOL,
    COMPLEX,
    FLOATING,
    FLOATING_AND_COMPLEX,
    INTEGRAL,
    INTEGRAL_AND_FLOATING,
)
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_dtype, quiet, store, view
from dispatch.kernels.cpu.elementwise.driver import Function, Steps, operand, run
from dispatch.kernels.cpu.elementwise.pointwise import _of_both, _of_floats, _of_same
from dispatch.kernels.meta import rules

__all__ = [
    "angle",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "complex_out",
    "copysign",
    "exp2",
    "fmax",
    "fmin",
    "frac",
    "gcd",
    "heaviside",
    "hypot",
    "ilshift_Scalar",
    "ilshift_Tensor",
    "irshift_Scalar",
    "irshift_Tensor",
    "isneginf",
    "isposinf",
    "lcm",
    "logaddexp",
    "logaddexp2",
    "lshift_Scalar",
    "lshift_Tensor",
    "nextafter",
    "polar_out",
    "round_decimals",
    "rshift_Scalar",
    "rshift_Tensor",
    "sgn",
    "signbit",
    "xlogy",
]

_aten = ops.aten
_ORDERED = BOOL | INTEGRAL_AND_FLOATING


# ---- one operand -------------------------------------------------------------------------------


def _frac(x: Array, r: Array) -> None:
    np.subtract(x, np.trunc(x), out=r)


def _sgn(x: Array, r: Array) -> None:
    if x.dtype.kind == "c":
        size = np.abs(x)
        np.divide(x, size, out=r)
        np.copyto(r, 0, where=size == 0)
        return
    np.sign(x, out=r)
    np.copyto(r, 0, where=np.isnan(x))


frac = _of_same(Steps(_frac), FLOATING)
sgn = _of_same(Steps(_sgn), INTEGRAL_AND_FLOATING | COMPLEX, BOOL)
exp2 = _of_floats(np.exp2)


def signbit(out: Tensor, self: Tensor) -> None:
    """Whether a number is negative; -0.0 is."""
    check_dtype(self.dtype, _ORDERED)
    values = view(self)
    if self.dtype.is_floating_point:
        store(out, np.signbit(values))
    else:
        store(out, values < 0)


def _infinite(sign: int) -> Callable[[Tensor, Tensor], None]:
    def body(out: Tensor, self: Tensor) -> None:
        if self.dtype.is_floating_point:
            store(out, operand(self, self.dtype) == sign * np.inf)
        else:
            view(out).fill(False)

    return body


isposinf = _infinite(1)
isneginf = _infinite(-1)


def angle(out: Tensor, self: Tensor) -> None:
    """pi for negative numbers."""
    check_dtype(self.dtype, _ORDERED | COMPLEX)
    values = operand(self, self.dtype)
    with quiet():
        if self.dtype.is_complex:
            store(out, np.angle(values))
        else:
            turned = np.where(values < 0, np.pi, 0.0)
            store(out, np.where(np.isnan(values), np.nan, turned))


def _round_decimals(x: Array, r: Array, decimals: int) -> None:
    factor = 10.0 ** abs(decimals)
    if decimals >= 0:
        np.rint(x * factor, out=r)
        np.divide(r, factor, out=r)
    else:
        np.rint(x / factor, out=r)
        np.multiply(r, factor, out=r)


def round_decimals(out: Tensor, self: Tensor, decimals: int) -> None:
    """Rounded to decimals, before the point if negative."""
    run(Steps(_round_decimals, decimals), FLOATING, out, self.dtype, self)


# ---- two operands ------------------------------------------------------------------------------


def _ufunc(function: Callable[[Array, Array], Array]) -> Function:
    """A function of two arrays, to be called like a ufunc."""

    def call(x: Array, y: Array, out: Array | None = None, casting: str = "unsafe") -> Array:
        result = function(x, y)
        if out is not None:
            np.copyto(out, result, casting="unsafe")
        return result

    return call


def _logaddexp(x: Array, y: Array) -> Array:
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    larger: Array = np.where(x.real > y.real, x, y)
    smaller: Array = np.where(x.real > y.real, y, x)
    return larger + np.log(1 + np.exp(smaller - larger))


def _of_both_float(function: Function) -> Callable[[Tensor, Tensor, Tensor], None]:
    """Integers are computed in the default dtype."""

    def body(out: Tensor, self: Tensor, other: Tensor) -> None:
        kind = rules.float_type(rules.result_type(self, other))
        run(function, FLOATING, out, kind, self, other)

    return body


def _xlogy(x: Array, y: Array) -> Array:
    return np.where(np.isnan(y), np.nan, np.where(x == 0, 0, x * np.log(y))).astype(x.dtype)


def _heaviside(x: Array, y: Array) -> Array:
    return np.where(x == 0, y, (x > 0).astype(y.dtype))


def _shift_left(x: Array, y: Array) -> Array:
    bits = x.dtype.itemsize * 8
    inside = (y >= 0) & (y < bits)
    return np.where(inside, np.left_shift(x, np.where(inside, y, 0)), 0)


def _shift_right(x: Array, y: Array) -> Array:
    bits = x.dtype.itemsize * 8 - (x.dtype.kind == "i")
    inside = (y >= 0) & (y < bits)
    return np.right_shift(x, np.where(inside, y, bits if x.dtype.kind == "i" else bits - 1)) * (
        inside | (x.dtype.kind == "i")
    )


hypot = _of_both(np.hypot, FLOATING)
logaddexp = _of_both(_ufunc(_logaddexp), FLOATING_AND_COMPLEX)
logaddexp2 = _of_both(np.logaddexp2, FLOATING)
fmax = _of_both(np.fmax, _ORDERED)
fmin = _of_both(np.fmin, _ORDERED)
gcd = _of_both(np.gcd, INTEGRAL)
lcm = _of_both(np.lcm, INTEGRAL)
heaviside = _of_both(_ufunc(_heaviside), _ORDERED)
bitwise_left_shift = _of_both(_ufunc(_shift_left), INTEGRAL)
bitwise_right_shift = _of_both(_ufunc(_shift_right), INTEGRAL)
copysign = _of_both_float(np.copysign)
xlogy = _of_both_float(_ufunc(_xlogy))


def nextafter(out: Tensor, self: Tensor, other: Tensor) -> None:
    """The next number of the dtype towards other."""
    kind = rules.result_type(self, other)
    check_dtype(kind, FLOATING)
    arrays = [view(_aten.to.dtype(t, kind)) for t in (self, other)]
    with quiet():
        store(out, np.nextafter(*arrays))


# ---- the operators << and >> -------------------------------------------------------------------


def _shift(symbol: str, operator: Any) -> Callable[[Tensor, Any], Tensor]:
    def kernel(self: Tensor, other: Any) -> Tensor:
        check_dtype(rules.result_type(self, other), INTEGRAL)
        result: Tensor = operator(self, other)
        return result

    return kernel


lshift_Tensor = _shift("__lshift__", _aten.bitwise_left_shift.Tensor)
lshift_Scalar = _shift("__lshift__", _aten.bitwise_left_shift.Tensor_Scalar)
ilshift_Tensor = _shift("__ilshift__", _aten.bitwise_left_shift_.Tensor)
ilshift_Scalar = _shift("__ilshift__", _aten.bitwise_left_shift_.Tensor_Scalar)
rshift_Tensor = _shift("__rshift__", _aten.bitwise_right_shift.Tensor)
rshift_Scalar = _shift("__rshift__", _aten.bitwise_right_shift.Tensor_Scalar)
irshift_Tensor = _shift("__irshift__", _aten.bitwise_right_shift_.Tensor)
irshift_Scalar = _shift("__irshift__", _aten.bitwise_right_shift_.Tensor_Scalar)


# ---- complex numbers from two parts ------------------------------------------------------------

_PAIRED = {
    dtypes.float16: dtypes.complex32,
    dtypes.float32: dtypes.complex64,
    dtypes.float64: dtypes.complex128,
}


def _pair(out: Tensor, first: Tensor, second: Tensor, parts: Any) -> Tensor:
    if first.dtype is not second.dtype or _PAIRED.get(first.dtype) is not out.dtype:
        raise refused(f"{first.dtype} and {second.dtype} do not make out of {out.dtype}")
    sizes = list(rules.broadcast_shapes(list(first.shape), list(second.shape)))
    if list(out.shape) != sizes:
        _aten.resize_(out, sizes)
    halves = view(_aten.view_as_real(out))
    halves[..., 0], halves[..., 1] = parts(view(first), view(second))
    return out


def complex_out(real: Tensor, imag: Tensor, *, out: Tensor) -> Tensor:
    """Real and imaginary parts."""
    return _pair(out, real, imag, lambda x, y: (x, y))


def polar_out(abs: Tensor, angle: Tensor, *, out: Tensor) -> Tensor:
    """Lengths and angles."""
    check_dtype(abs.dtype, (dtypes.float32, dtypes.float64))
    return _pair(out, abs, angle, lambda r, a: (r * np.cos(a), r * np.sin(a)))
