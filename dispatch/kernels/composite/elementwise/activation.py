"""Activation functions that are others with their numbers filled in."""

from __future__ import annotations

import math
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._C.values import wrapped_number
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "add_relu",
    "add_relu_",
    "celu",
    "celu_",
    "infinitely_differentiable_gelu_backward",
    "log_sigmoid",
    "log_sigmoid_out",
    "prelu",
    "relu6",
    "relu6_",
    "selu",
    "selu_",
    "soft_margin_loss",
    "soft_margin_loss_backward",
    "soft_margin_loss_backward_out",
    "soft_margin_loss_out",
]

_aten = ops.aten
_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


def _inverse(self: Tensor, alpha: Any) -> float:
    if alpha != 0:
        return 1.0 / float(alpha)
    if rules.is_eager(self):
        raise refused("alpha must not be 0")
    return math.inf


def celu(self: Tensor, alpha: Any = 1.0) -> Tensor:
    """x if x > 0 else alpha * expm1(x / alpha)."""
    return _aten.elu(self, alpha, 1.0, _inverse(self, alpha))


def celu_(self: Tensor, alpha: Any = 1.0) -> Tensor:
    """The same in place."""
    return _aten.elu_(self, alpha, 1.0, _inverse(self, alpha))


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


def log_sigmoid_out(self: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`, with a buffer for nobody."""
    _aten.log_sigmoid_forward.output(self, output=out, buffer=_aten.empty_like(self))
    return out


def add_relu(self: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """A number added; never below 0."""
    result: Tensor = _aten._add_relu.Tensor(self, wrapped_number(other), alpha=alpha)
    return result


def add_relu_(self: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """The same in place."""
    result: Tensor = _aten._add_relu_.Tensor(self, wrapped_number(other), alpha=alpha)
    return result


def infinitely_differentiable_gelu_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The gradient of gelu in operators that have gradients of their own."""
    below = 0.5 * (1.0 + _aten.erf(self * math.sqrt(0.5)))
    density = (1 / math.sqrt(2 * math.pi)) * _aten.exp(self * self * -0.5)
    result: Tensor = below.addcmul(self, density).mul(grad)
    kind = rules.result_type(grad, self)
    return result if kind.is_floating_point else result.to(kind)


_MEAN, _SUM = 1, 2


def soft_margin_loss(self: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    """log(1 + exp(-target * x)), reduced."""
    out = _aten.empty(
        [0], dtype=self.dtype, layout=self.layout, device=self.device, pin_memory=None
    )
    return soft_margin_loss_out(self, target, reduction, out=out)


def soft_margin_loss_out(
    self: Tensor, target: Tensor, reduction: int = _MEAN, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    if out.dtype is not self.dtype and rules.is_eager(self):
        raise refused(f"expected out to be {self.dtype}, got {out.dtype}")
    losses = out if reduction not in (_MEAN, _SUM) else _aten.empty_like(self)
    _aten.neg.out(self, out=losses)
    losses.mul_(target).exp_().log1p_()
    if reduction == _MEAN:
        _aten.mean.out(losses, None, out=out)
    elif reduction == _SUM:
        _aten.sum.IntList_out(losses, None, out=out)
    return out


def soft_margin_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int
) -> Tensor:
    """How a loss moves with self."""
    return soft_margin_loss_backward_out(
        grad_output, self, target, reduction, grad_input=_aten.new_empty(self, self.shape)
    )


def soft_margin_loss_backward_out(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, *, grad_input: Tensor
) -> Tensor:
    """The same into `grad_input`."""
    share = 1.0 / self.numel() if reduction == _MEAN else 1.0
    z = _aten.exp(_aten.mul(_aten.neg(target), self))
    slope = _aten.mul(_aten.mul(_aten.neg(target), z), _aten.reciprocal(z + 1))
    _aten.mul.out(_aten.mul(slope, share), grad_output, out=grad_input)
    return grad_input


def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """x if x > 0 else weight * x, with one weight or one for each channel."""
    if weight.ndim > 1:
        raise refused(
            f"Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if weight.numel() != 1:
        if self.ndim == 0:
            raise refused("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.ndim > 1 else 1
        if channels != weight.numel():
            raise refused(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}"
            )
    if self.dtype is not weight.dtype:
        raise refused(f"expected one dtype, got {self.dtype} and {weight.dtype}")
    if self.ndim != weight.ndim:
        sizes = [1] * self.ndim
        if self.ndim > 1:
            sizes[1] = weight.numel()
        weight = _aten.view(weight, sizes)
    return _aten._prelu_kernel(self, weight)
