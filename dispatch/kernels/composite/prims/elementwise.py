"""The elementwise `prims`: the operator of `aten` of the same meaning, after stricter checks.

`kernels/meta/prims/elementwise` refuses what has to be broadcast or promoted; the arithmetic is
that of `aten`, on every device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.prims.elementwise import (
    boolean,
    complex_same,
    real,
    same,
    where as _where,
)

_aten = ops.aten


def _prim(name: str, check: Callable[..., Any] = same, **options: Any) -> Callable[..., Any]:
    """The kernel that checks the operands and calls `aten::name`."""

    def kernel(*operands: Any) -> Any:
        check(*operands)
        return getattr(_aten, name)(*operands, **options)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


abs = _prim("abs", real)
acos = _prim("acos")
acosh = _prim("acosh")
asin = _prim("asin")
asinh = _prim("asinh")
atan = _prim("atan")
atanh = _prim("atanh")
bessel_i0 = _prim("i0")
bessel_i0e = _prim("special_i0e")
bessel_i1 = _prim("special_i1")
bessel_i1e = _prim("special_i1e")
bessel_j0 = _prim("special_bessel_j0")
bessel_j1 = _prim("special_bessel_j1")
bitwise_not = _prim("bitwise_not")
ceil = _prim("ceil")
conj_physical = _prim("_conj_physical", complex_same)
cos = _prim("cos")
cosh = _prim("cosh")
digamma = _prim("digamma")
erf = _prim("erf")
erf_inv = _prim("erfinv")
erfc = _prim("erfc")
erfcx = _prim("special_erfcx")
exp = _prim("exp")
exp2 = _prim("exp2")
expm1 = _prim("expm1")
floor = _prim("floor")
isfinite = _prim("isfinite", boolean)
lgamma = _prim("lgamma")
log = _prim("log")
log10 = _prim("log10")
log1p = _prim("log1p")
log2 = _prim("log2")
ndtri = _prim("special_ndtri")
neg = _prim("neg")
reciprocal = _prim("reciprocal")
round = _prim("round")
rsqrt = _prim("rsqrt")
sign = _prim("sign")
signbit = _prim("signbit")
sin = _prim("sin")
sinh = _prim("sinh")
spherical_bessel_j0 = _prim("special_spherical_bessel_j0")
sqrt = _prim("sqrt")
tan = _prim("tan")
tanh = _prim("tanh")
trunc = _prim("trunc")

add = _prim("add")
atan2 = _prim("atan2")
bitwise_and = _prim("bitwise_and")
bitwise_or = _prim("bitwise_or")
bitwise_xor = _prim("bitwise_xor")
eq = _prim("eq", boolean)
fmax = _prim("fmax")
fmin = _prim("fmin")
fmod = _prim("fmod")
gcd = _prim("gcd")
ge = _prim("ge", boolean)
gt = _prim("gt", boolean)
hypot = _prim("hypot")
igamma = _prim("igamma")
igammac = _prim("igammac")
le = _prim("le", boolean)
lt = _prim("lt", boolean)
maximum = _prim("maximum")
minimum = _prim("minimum")
mul = _prim("mul")
ne = _prim("ne", boolean)
nextafter = _prim("nextafter")
pow = _prim("pow")
remainder = _prim("remainder")
shift_left = _prim("bitwise_left_shift")
shift_right_arithmetic = _prim("bitwise_right_shift")
sub = _prim("sub")
zeta = _prim("special_zeta")

where = _prim("where", _where)

_divided = _prim("div")
_truncated = _prim("div", rounding_mode="trunc")


def div(self: Any, other: Any) -> Any:
    """The quotient; that of integers is cut."""
    kind = (self if isinstance(self, Tensor) else other).dtype
    is_whole = not (kind.is_floating_point or kind.is_complex)
    return (_truncated if is_whole else _divided)(self, other)


def cbrt(self: Tensor) -> Tensor:
    """The real cube root, with self's sign."""
    if self.dtype.is_complex:
        raise refused(f"expected a real dtype, got {self.dtype}")
    root = _aten.pow.Tensor_Scalar(_aten.abs(self), 1 / 3)
    return _aten.copysign.Tensor(root, self)


def fill(self: Tensor, value: Any) -> Tensor:
    """A copy of self full of the number."""
    return _aten.fill.Scalar(self, value)
