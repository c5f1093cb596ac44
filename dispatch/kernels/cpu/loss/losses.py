"""CPU bodies of losses and norms. `reduction`: 0 none, 1 the mean, 2 the sum."""

from __future__ import annotations

import math

import numpy as np

from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, operand, quiet, store
from dispatch.kernels.meta import rules

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "huber_loss",
    "mse_loss",
    "smooth_l1_loss",
]


def _reduce(out: Tensor, values: Array, reduction: int) -> None:
    if reduction == 0:
        store(out, values)
    elif reduction == 1:
        store(out, values.mean(dtype=np.float64) if values.size else math.nan)
    else:
        store(out, values.sum(dtype=np.float64))


def _difference(self: Tensor, target: Tensor) -> Array:
    kind = rules.result_type(self, target)
    check_dtype(kind, FLOATING)
    return np.asarray(operand(self, kind) - operand(target, kind))


@quiet()
def mse_loss(out: Tensor, self: Tensor, target: Tensor, reduction: int) -> None:
    """Squares of differences."""
    _reduce(out, _difference(self, target) ** 2, reduction)


@quiet()
def smooth_l1_loss(out: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> None:
    """Half the square over beta below beta, the distance less half of beta above."""
    size = np.abs(_difference(self, target))
    if beta == 0:
        _reduce(out, size, reduction)
    else:
        _reduce(out, np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


@quiet()
def huber_loss(out: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> None:
    """Half the square up to delta, a line above."""
    size = np.abs(_difference(self, target))
    loss = np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    _reduce(out, loss, reduction)


@quiet()
def binary_cross_entropy(
    out: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> None:
    """Logarithms are cut at -100."""
    check_dtype(self.dtype, FLOATING)
    if target.dtype is not self.dtype:
        raise refused(f"expected a target of {self.dtype}, got {target.dtype}")
    x, y = operand(self, self.dtype), operand(target, self.dtype)
    if x.size and (x.min() < 0 or x.max() > 1):
        raise refused("expected elements of self from 0 to 1")
    loss = (y - 1) * np.maximum(np.log1p(-x), -100) - y * np.maximum(np.log(x), -100)
    if weight is not None:
        loss = loss * operand(weight, self.dtype)
    _reduce(out, loss, reduction)


@quiet()
def binary_cross_entropy_backward(
    grad_input: Tensor,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
) -> None:
    """The slope, (x - y) / (x * (1 - x)), whose denominator is 1e-12 at least."""
    check_dtype(self.dtype, FLOATING)
    x, y = operand(self, self.dtype), operand(target, self.dtype)
    slope = (x - y) / np.maximum((1 - x) * x, 1e-12) * operand(grad_output, self.dtype)
    if weight is not None:
        slope = slope * operand(weight, self.dtype)
    store(grad_input, slope / x.size if reduction == 1 else slope)
