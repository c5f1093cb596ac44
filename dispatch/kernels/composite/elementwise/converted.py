"""Elementwise operators that are others on converted operands: angles and powers.

Called for tensors of all kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._C.values import wrapped_number
from dispatch._ops import ops

__all__ = [
    "chalf",
    "deg2rad",
    "deg2rad_",
    "deg2rad_out",
    "float_power_Scalar",
    "float_power_Scalar_out",
    "float_power_Tensor_Scalar",
    "float_power_Tensor_Scalar_out",
    "float_power_Tensor_Tensor",
    "float_power_Tensor_Tensor_out",
    "float_power__Scalar",
    "float_power__Tensor",
    "isreal",
    "ldexp_",
    "ldexp_Tensor",
    "ldexp_out",
    "rad2deg",
    "rad2deg_",
    "rad2deg_out",
]

_aten = ops.aten
Kernel = Callable[..., Tensor]


# ---- angles and powers of two ------------------------------------------------------------------


def _scaled(factor: float) -> tuple[Kernel, Kernel, Kernel]:
    """The functional, in-place and out variants."""

    def check(self: Tensor) -> None:
        if self.dtype.is_complex:
            raise refused("self must not be a complex tensor")

    def kernel(self: Tensor) -> Tensor:
        check(self)
        return _aten.mul.Tensor(self, wrapped_number(factor))

    def kernel_(self: Tensor) -> Tensor:
        check(self)
        return _aten.mul_.Tensor(self, wrapped_number(factor))

    def kernel_out(self: Tensor, *, out: Tensor) -> Tensor:
        check(self)
        return _aten.mul.out(self, wrapped_number(factor), out=out)

    return kernel, kernel_, kernel_out


deg2rad, deg2rad_, deg2rad_out = _scaled(math.pi / 180)
rad2deg, rad2deg_, rad2deg_out = _scaled(180 / math.pi)


def _power_of_two(self: Tensor, other: Tensor) -> Tensor:
    """In the dtype of a floating self, if the exponent is an integer."""
    if self.dtype.is_floating_point and not (
        other.dtype.is_floating_point or other.dtype.is_complex
    ):
        if other.dtype is dtypes.bool:
            raise refused("a floating tensor takes no bool exponent", NotImplementedError)
        other = _aten.to.dtype(other, self.dtype)
    return _aten.pow.Scalar(2.0, other)


def ldexp_Tensor(self: Tensor, other: Tensor) -> Tensor:
    """self times two to the power of other."""
    return _aten.mul.Tensor(self, _power_of_two(self, other))


def ldexp_(self: Tensor, other: Tensor) -> Tensor:
    """The same in place."""
    return ldexp_out(self, other, out=self)


def ldexp_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    return _aten.mul.out(self, _power_of_two(self, other), out=out)


# ---- float_power: everything in double precision -----------------------------------------------


def _wide(*operands: Any) -> dtypes.dtype:
    kinds = [v.dtype.is_complex if isinstance(v, Tensor) else type(v) is _COMPLEX for v in operands]
    return dtypes.complex128 if any(kinds) else dtypes.float64


_COMPLEX = complex


def _converted(value: Any, kind: dtypes.dtype) -> Any:
    if isinstance(value, Tensor):
        return _aten.to.dtype(value, kind)
    return _COMPLEX(value) if kind.is_complex else float(value)


def _float_power(self: Any, exponent: Any) -> Tensor:
    kind = _wide(self, exponent)
    exponent = _converted(exponent, kind)
    return _aten.pow(_converted(self, kind), exponent)


def _float_power_out(self: Any, exponent: Any, *, out: Tensor) -> Tensor:
    kind = _wide(self, exponent)
    if out.dtype is not kind:
        raise refused(f"the operation's result requires dtype {kind}, got {out.dtype}")
    exponent = _converted(exponent, kind)
    return _aten.pow(_converted(self, kind), exponent, out=out)


def _float_power_(self: Tensor, exponent: Any) -> Tensor:
    kind = _wide(self, exponent)
    if self.dtype is not kind:
        raise refused(f"the base given to float_power_ has dtype {self.dtype}, the result {kind}")
    return _aten.pow_(self, _converted(exponent, kind))


float_power_Tensor_Tensor = float_power_Tensor_Scalar = float_power_Scalar = _float_power
float_power_Tensor_Tensor_out = float_power_Tensor_Scalar_out = _float_power_out
float_power_Scalar_out = _float_power_out
float_power__Scalar = float_power__Tensor = _float_power_


# ---- complex numbers ---------------------------------------------------------------------------


def isreal(self: Tensor) -> Tensor:
    """Whether the imaginary part is 0."""
    if self.dtype.is_complex:
        return _aten.eq.Scalar(_aten.imag(self), 0)
    like = dtypes.preserve_format
    return _aten.ones_like(self, dtype=dtypes.bool, memory_format=like)


def chalf(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor in complex32."""
    result: Tensor = _aten.to.dtype(self, dtypes.complex32, False, False, memory_format)
    return result
