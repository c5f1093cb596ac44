"""Activation functions that are others with their numbers filled in."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["celu", "celu_", "log_sigmoid", "prelu", "relu6", "relu6_", "selu", "selu_"]

_aten = ops.aten
_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


def _inverse(alpha: Any) -> float:
    if alpha == 0:
        raise refused("alpha must not be 0")
    return 1.0 / float(alpha)


def celu(self: Tensor, alpha: Any = 1.0) -> Tensor:
    """x if x > 0 else alpha * expm1(x / alpha)."""
    return _aten.elu(self, alpha, 1.0, _inverse(alpha))


def celu_(self: Tensor, alpha: Any = 1.0) -> Tensor:
    """The same in place."""
    return _aten.elu_(self, alpha, 1.0, _inverse(alpha))


def selu(self: Tensor) -> Tensor:
    """`elu` that keeps mean and variance."""
    return _aten.elu(self, _SELU_ALPHA, _SELU_SCALE)


def selu_(self: Tensor) -> Tensor:
    """The same in place."""
    return _aten.elu_(self, _SELU_ALPHA, _SELU_SCALE)


def _check_not_bool(self: Tensor) -> None:
    if self.dtype is dtypes.bool:
        raise refused("self must not be a bool tensor")


def relu6(self: Tensor) -> Tensor:
    """Between 0 and 6."""
    _check_not_bool(self)
    return _aten.hardtanh(self, 0, 6)


def relu6_(self: Tensor) -> Tensor:
    """The same in place."""
    _check_not_bool(self)
    return _aten.hardtanh_(self, 0, 6)


def log_sigmoid(self: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x)))."""
    output: Tensor = _aten.log_sigmoid_forward(self)[0]
    return output


def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """x if x > 0 else weight * x, with one weight or one for each channel."""
    if weight.ndim > 1:
        raise refused(f"expected weight to have at most one dimension, got {list(weight.shape)}")
    if weight.numel() != 1:
        channels = self.shape[1] if self.ndim > 1 else 1
        if self.ndim == 0 or channels != weight.numel():
            raise refused(f"{weight.numel()} weights for self of shape {list(self.shape)}")
    if self.dtype is not weight.dtype:
        raise refused(f"expected one dtype, got {self.dtype} and {weight.dtype}")
    if self.ndim != weight.ndim:
        sizes = [1] * self.ndim
        if self.ndim > 1:
            sizes[1] = weight.numel()
        weight = _aten.view(weight, sizes)
    return _aten._prelu_kernel(self, weight)
