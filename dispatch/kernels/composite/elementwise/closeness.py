"""Whether tensors are close, written with operators."""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import bool as boolean, get_default_dtype
from dispatch._C.errors import refused, scalar_type
from dispatch._ops import ops

__all__ = ["allclose", "isclose"]

_aten = ops.aten


def isclose(
    self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Element by element: |self - other| <= atol + rtol * |other|, or equal."""
    if self.dtype != other.dtype:
        raise refused(f"{scalar_type(self.dtype)} did not match {scalar_type(other.dtype)}")
    for name, given in (("rtol", rtol), ("atol", atol)):
        if given < 0:
            raise refused(f"{name} must be greater than or equal to zero, but got {given}")
    close = _aten.eq.Tensor(self, other)
    whole = not (self.dtype.is_floating_point or self.dtype.is_complex)
    if equal_nan and not whole:
        both = _aten.bitwise_and.Tensor(_aten.isnan(self), _aten.isnan(other))
        close = _aten.bitwise_or_.Tensor(close, both)
    if rtol == 0 and atol == 0:
        return close
    if self.dtype is boolean:  # which has no difference
        self = _aten.to.dtype(self, get_default_dtype())
    if whole:  # the difference is of the other's dtype
        other = _aten.to.dtype(other, get_default_dtype())
    scaled = _aten.abs.default(_aten.mul.Scalar(other, rtol))
    allowed = _aten.add.Scalar(scaled, atol)
    error = _aten.abs.default(_aten.sub.Tensor(self, other))
    finite = _aten.isfinite.default(error)
    within = _aten.bitwise_and_.Tensor(finite, _aten.le.Tensor(error, allowed))
    return _aten.bitwise_or_.Tensor(close, within)


def allclose(
    self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close."""
    close = _aten.isclose.default(self, other, rtol, atol, equal_nan)
    return bool(_aten.all.default(close).item())
