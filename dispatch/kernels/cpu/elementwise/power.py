"""CPU bodies of pow in its three forms.

Called by the structured kernels. An exponent that is a number takes the short ways that PyTorch
takes (roots, small powers as products, reciprocals of them); integers wrap around, and an integer
to a negative power is 0 but for the bases 1 and -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.generated.dtype_sets import FLOATING_AND_COMPLEX, INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, store, view
from dispatch.kernels.cpu.elementwise.driver import Function, Steps, converted, number, read, run
from dispatch.kernels.meta import rules

__all__ = ["pow", "pow_of_scalar", "pow_scalar"]

_ALLOWED = INTEGRAL | FLOATING_AND_COMPLEX


def _integer_power(x: Array, exponent: Array, **into: Any) -> Any:
    """numpy raises for negative exponents."""
    below = exponent < 0
    if not np.any(below):
        return np.power(x, exponent, **into)
    parity = np.where(exponent % 2 == 0, 1, x)
    unit = np.where((x == 1) | (x == -1), parity, 0)
    power = np.power(x, np.where(below, 0, exponent))
    return np.positive(np.where(below, unit, power).astype(x.dtype), **into)


def _complex_power(x: Array, exponent: Array, **into: Any) -> Any:
    """numpy has rules of its own for powers of 0 and infinity."""
    special = (x == 0) | ~np.isfinite(x)
    if not np.any(special):
        return np.power(x, exponent, **into)
    by_logarithm = np.exp(exponent * np.log(x))
    return np.positive(np.where(special, by_logarithm, np.power(x, exponent)), **into)


_POWERS: dict[str, Function] = {
    "i": _integer_power,
    "u": _integer_power,
    "c": _complex_power,
    "f": np.power,
}


def _power(x: Array, exponent: Any, **into: Any) -> Any:
    return _POWERS[x.dtype.kind](x, exponent, **into)


# ---- exponents that have a short way -----------------------------------------------------------


def _cube(x: Array, r: Array) -> None:
    np.multiply(x, x, out=r)
    r *= x


def _inverse_root(x: Array, r: Array) -> None:
    np.sqrt(x, out=r)
    np.reciprocal(r, out=r)


def _inverse_square(x: Array, r: Array) -> None:
    np.multiply(x, x, out=r)
    np.reciprocal(r, out=r)


_SHORT: dict[float, Function] = {
    0.5: np.sqrt,
    2: np.square,
    3: Steps(_cube),
    -0.5: Steps(_inverse_root),
    -1: np.reciprocal,
    -2: Steps(_inverse_square),
}
_PRODUCTS = (2, 3)
_WITH_ROOTS = frozenset({dtypes.bfloat16, dtypes.float32, dtypes.float64})


def _function_of(exponent: Any, kind: dtype) -> Function:
    function = _SHORT.get(exponent)
    if function is not None and (exponent in _PRODUCTS or kind in _WITH_ROOTS):
        return function
    value = number(exponent, kind)
    return lambda x, **into: _power(x, value, **into)


# ---- the three forms ---------------------------------------------------------------------------


def pow(out: Tensor, self: Tensor, exponent: Tensor) -> None:
    """Both are tensors."""
    run(_power, _ALLOWED, out, rules.result_type(self, exponent), self, exponent)


def pow_scalar(out: Tensor, self: Tensor, exponent: Any) -> None:
    """x to a number; to the powers 0 and 1 in any dtype."""
    kind = rules.result_type(self, exponent)
    if exponent == 0:
        view(out).fill(1)
        return
    if exponent == 1:
        store(out, read(self))
        return
    check_dtype(kind, _ALLOWED)
    run(_function_of(exponent, kind), _ALLOWED, out, kind, self)


def pow_of_scalar(out: Tensor, self: Any, exponent: Tensor) -> None:
    """A number to the power of a tensor."""
    kind = rules.result_type(self, exponent)
    if self == 1 and not isinstance(self, bool):
        view(out).fill(1)
        return
    check_dtype(kind, _ALLOWED)
    base = np.asarray(converted(self, kind))
    run(lambda x, **into: _power(base, x, **into), _ALLOWED, out, kind, exponent)
