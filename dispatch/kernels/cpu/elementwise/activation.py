"""CPU bodies of activation functions, each a few ufuncs over one block at a time.

Called by the structured kernels; numbers come as the schema has them. `steps(x, r, *numbers)` fills
`r`, which is not the memory of `x`, so every operator works in place too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING, FLOATING_AND_COMPLEX, INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, quiet, store
from dispatch.kernels.cpu.elementwise.driver import Steps, number, operand, run
from dispatch.kernels.cpu.elementwise.erf import erf_into
from dispatch.kernels.cpu.elementwise.ternary import clamp_in

__all__ = [
    "elu",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_sigmoid_forward",
    "mish",
    "prelu_kernel",
    "silu",
    "softplus",
    "softshrink",
    "threshold",
]


def _run(op: str, steps: Any, out: Tensor, self: Tensor, *numbers: Any) -> None:
    allowed = FLOATING_AND_COMPLEX if op == "silu" else FLOATING
    if self.dtype in FLOATING:
        numbers = tuple(number(value, self.dtype, wide=True) for value in numbers)
    run(Steps(steps, *numbers), allowed, out, self.dtype, self)


def _silu(x: Array, r: Array) -> None:
    np.negative(x, out=r)
    np.exp(r, out=r)
    r += 1
    np.divide(x, r, out=r)


def _gelu(x: Array, r: Array) -> None:
    erf_into(np.asarray(x * math.sqrt(0.5)), r)
    r += 1
    r *= x
    r *= 0.5


def _gelu_tanh(x: Array, r: Array) -> None:
    np.multiply(x, x, out=r)
    r *= 0.044715
    r += 1
    r *= x
    r *= math.sqrt(2 / math.pi)
    np.tanh(r, out=r)
    r += 1
    r *= x
    r *= 0.5


# A sum over the two signs of x is faster than a choice, and one of its terms is always 0.


def _elu(x: Array, r: Array, negative: Any, positive: Any, inner: Any) -> None:
    np.minimum(x, 0, out=r)
    r *= inner
    np.expm1(r, out=r)
    r *= negative
    r += np.maximum(x, 0) * positive


def _leaky_relu(x: Array, r: Array, slope: Any) -> None:
    np.minimum(x, 0, out=r)
    r *= slope
    r += np.maximum(x, 0)


def _softplus(x: Array, r: Array, beta: Any, threshold: Any) -> None:
    np.multiply(x, beta, out=r)
    linear = r > threshold
    np.exp(r, out=r)
    np.log1p(r, out=r)
    r /= beta
    np.copyto(r, x, where=linear)


def silu(out: Tensor, self: Tensor) -> None:
    """x / (1 + exp(-x))."""
    _run("silu", _silu, out, self)


def gelu(out: Tensor, self: Tensor, approximate: str) -> None:
    """x times the normal distribution's function at x, or its approximation by tanh."""
    _run("gelu", _gelu_tanh if approximate == "tanh" else _gelu, out, self)


def elu(out: Tensor, self: Tensor, alpha: Any, scale: Any, input_scale: Any) -> None:
    """scale * (x if x > 0 else alpha * expm1(input_scale * x))."""
    _run("elu", _elu, out, self, alpha * scale, scale, input_scale)


def hardtanh(out: Tensor, self: Tensor, min_val: Any, max_val: Any) -> None:
    """Between min_val and max_val, cut to integers beside an integer tensor."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        min_val, max_val = (_whole(bound) for bound in (min_val, max_val))
    clamp_in(self.dtype, out, self, min_val, max_val)


def _whole(bound: Any) -> int:
    if not math.isfinite(bound):
        raise refused(f"{bound} does not fit in an integer tensor")
    return int(bound)


def leaky_relu(out: Tensor, self: Tensor, negative_slope: Any) -> None:
    """x if x > 0 else negative_slope * x."""
    _run("leaky_relu", _leaky_relu, out, self, negative_slope)


def softplus(out: Tensor, self: Tensor, beta: Any, threshold: Any) -> None:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold."""
    _run("softplus", _softplus, out, self, beta, threshold)


# ---- more of them ------------------------------------------------------------------------------


def _mish(x: Array, r: Array) -> None:
    np.logaddexp(x, 0, out=r)
    np.tanh(r, out=r)
    r *= x


def _hardsigmoid(x: Array, r: Array) -> None:
    np.add(x, 3, out=r)
    np.clip(r, 0, 6, out=r)
    r /= 6


def _hardswish(x: Array, r: Array) -> None:
    np.add(x, 3, out=r)
    np.clip(r, 0, 6, out=r)
    r *= x
    r /= 6


def _hardshrink(x: Array, r: Array, lambd: Any) -> None:
    np.copyto(r, x)
    np.copyto(r, 0, where=(x >= -lambd) & (x <= lambd))


def _softshrink(x: Array, r: Array, lambd: Any) -> None:
    np.copyto(r, np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0)))


def mish(out: Tensor, self: Tensor) -> None:
    """x * tanh(softplus(x))."""
    _run("mish", _mish, out, self)


def hardsigmoid(out: Tensor, self: Tensor) -> None:
    """(x + 3) / 6 between 0 and 1."""
    _run("hardsigmoid", _hardsigmoid, out, self)


def hardswish(out: Tensor, self: Tensor) -> None:
    """x * hardsigmoid(x)."""
    _run("hardswish", _hardswish, out, self)


def hardshrink(out: Tensor, self: Tensor, lambd: Any) -> None:
    """0 between -lambd and lambd."""
    _run("hardshrink", _hardshrink, out, self, lambd)


def softshrink(out: Tensor, self: Tensor, lambd: Any) -> None:
    """Moved towards 0 by lambd, at most to it."""
    _run("softshrink", _softshrink, out, self, lambd)


def threshold(out: Tensor, self: Tensor, threshold: Any, value: Any) -> None:
    """x where it is above the threshold, else the value."""
    check_dtype(self.dtype, INTEGRAL | FLOATING)
    values = operand(self, self.dtype)
    limit, other = (number(n, self.dtype) for n in (threshold, value))
    with quiet():
        store(out, np.where(values <= limit, other, values))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def glu(out: Tensor, self: Tensor, dim: int) -> None:
    """One half times the sigmoid of the other."""
    check_dtype(self.dtype, FLOATING)
    with quiet():
        first, second = np.split(operand(self, self.dtype), 2, axis=dim)
        store(out, first * _sigmoid(second))


def log_sigmoid_forward(output: Tensor, buffer: Tensor, self: Tensor) -> None:
    """log(sigmoid(x)); the buffer holds exp(-|x|)."""
    check_dtype(self.dtype, FLOATING)
    values = operand(self, self.dtype)
    with quiet():
        small = np.exp(-np.abs(values))
        store(output, np.minimum(values, 0) - np.log1p(small))
        store(buffer, small)


def prelu_kernel(out: Tensor, self: Tensor, weight: Tensor) -> None:
    """x if x > 0 else weight * x."""
    check_dtype(self.dtype, FLOATING)
    values, slopes = (operand(t, self.dtype) for t in (self, weight))
    with quiet():
        store(out, np.where(values > 0, values, values * slopes))
