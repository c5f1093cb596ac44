"""CPU bodies of special functions, which numpy has not.

Computed in double precision, number by number where the standard library has the function, and
rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dispatch._C.generated.dtype_sets import FLOATING, FLOATING_AND_COMPLEX
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array
from dispatch.kernels.cpu.elementwise.driver import Steps, run
from dispatch.kernels.meta import rules

__all__ = ["digamma", "erfc", "erfinv", "lgamma", "logit", "sinc"]

Unary = Callable[[Tensor, Tensor], None]


def _each(function: Callable[[float], float]) -> Callable[[Array, Array], None]:
    by_number = np.frompyfunc(function, 1, 1)

    def steps(x: Array, r: Array) -> None:
        r[...] = np.asarray(by_number(np.asarray(x, np.float64)), np.float64)

    return steps


def _of_floats(steps: Any, allowed: Any = FLOATING) -> Unary:
    def body(out: Tensor, self: Tensor) -> None:
        run(Steps(steps), allowed, out, rules.float_type(self.dtype), self)

    return body


def _lgamma(x: float) -> float:
    if x != x:
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


# B(2k) / 2k of the asymptotic series of digamma, which is used from 10 on.
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def _digamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, -x)
    if x != x or x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    if x == math.inf:
        return x
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1.0))
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    tail = 0.0
    for factor in reversed(_SERIES):
        tail = square * (factor + tail)
    return shift + math.log(x) - 0.5 / x - tail


def _erfinv(y: float) -> float:
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if not abs(y) < 1:
        return math.nan
    # Winitzki's approximation, then Newton's steps (with Halley's correction) on erf.
    logarithm = math.log1p(-y * y)
    middle = 2 / (math.pi * 0.147) + logarithm / 2
    x = math.copysign(math.sqrt(math.sqrt(middle * middle - logarithm / 0.147) - middle), y)
    for _ in range(3):
        error = (
            math.erf(x) - y
            if abs(x) < 1
            else math.copysign(math.erfc(abs(x)), -x) + (math.copysign(1, y) - y)
        )
        step = error / (2 / math.sqrt(math.pi) * math.exp(-x * x))
        x -= step / (1 + x * step)
    return x


def _sinc(x: Array, r: Array) -> None:
    np.multiply(x, np.pi, out=r)
    np.divide(np.sin(r), r, out=r)
    np.copyto(r, 1, where=x == 0)


erfc = _of_floats(_each(math.erfc))
lgamma = _of_floats(_each(_lgamma))
digamma = _of_floats(_each(_digamma))
erfinv = _of_floats(_each(_erfinv))
sinc = _of_floats(_sinc, FLOATING_AND_COMPLEX)


def _logit(x: Array, r: Array, eps: float | None) -> None:
    inside = x if eps is None else np.minimum(np.maximum(x, eps), 1 - eps)
    np.subtract(1, inside, out=r)
    np.divide(inside, r, out=r)
    np.log(r, out=r)


def logit(out: Tensor, self: Tensor, eps: float | None) -> None:
    """log(x / (1 - x)), for x between eps and 1 - eps."""
    run(Steps(_logit, eps), FLOATING, out, rules.float_type(self.dtype), self)
