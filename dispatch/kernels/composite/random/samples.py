"""Random operators written with others: coins in a new tensor, dropout and its kin, rrelu.

The device's own `bernoulli_` and `rrelu_with_noise` draw the numbers, so that a backend needs no
more than these.
"""

from __future__ import annotations

import math
from typing import Any

from dispatch._C.dtypes import contiguous_format
from dispatch._C.errors import refused
from dispatch._ops import ops

__all__ = [
    "alpha_dropout",
    "alpha_dropout_",
    "bernoulli_p",
    "bernoulli_tensor",
    "dropout",
    "dropout_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "rrelu",
    "rrelu_",
    "rrelu_with_noise_backward",
]

_aten = ops.aten
_FUSED_DROPOUT = ("cuda", "xpu", "lazy", "privateuseone")

# ---- coins -------------------------------------------------------------------------------------


def bernoulli_p(self: Any, p: float, *, generator: Any) -> Any:
    """Ones with probability `p`, in contiguous memory."""
    out = _aten.empty_like.default(self, memory_format=contiguous_format)
    return _aten.bernoulli_.float(out, p, generator=generator)


def bernoulli_tensor(self: Any, p: Any, *, generator: Any) -> Any:
    """Ones with the probabilities in `p`, with the geometry of self."""
    return _aten.bernoulli_.Tensor(_aten.clone.default(self), p, generator=generator)


# ---- dropout -----------------------------------------------------------------------------------

# What selu saturates at: alpha dropout puts it in place of zero, so that mean and variance stay.
_ALPHA = 1.7580993408473766


def _is_idle(input: Any, p: float, train: bool) -> bool:
    """Whether there is nothing to drop. RuntimeError when `p` is no probability."""
    if not 0 <= p <= 1:
        raise refused(f"dropout probability has to be between 0 and 1, but got {p}")
    return p == 0 or not train or input.numel() == 0


def _coins(input: Any, p: float, by_feature: bool) -> Any:
    """Zeros with probability `p`, else ones: for each element, or for each channel of each item."""
    if not by_feature:
        made = _aten.empty_like.default(input)
    elif input.ndim < 2:
        raise refused(f"expected input to have 2 dimensions or more, got {input.ndim}")
    else:
        made = _aten.new_empty.default(input, [*input.shape[:2], *[1] * (input.ndim - 2)])
    return _aten.bernoulli_.float(made, 1 - p)


def _dropped(input: Any, p: float, train: bool, mul: Any, by_feature: bool) -> Any:
    """`input` times 0 with probability `p`, else times 1 / (1 - p); `mul` works in place or not."""
    if _is_idle(input, p, train):
        return input
    if p == 1:
        like = {"dtype": input.dtype, "layout": input.layout, "device": input.device}
        return mul(input, _aten.zeros.default([], **like))
    return mul(input, _aten.div_.Scalar(_coins(input, p, by_feature), 1 - p))


def _alpha_dropped(input: Any, p: float, train: bool, mul: Any, by_feature: bool) -> Any:
    """The same with selu's lower bound in place of 0, and with input's mean and variance."""
    if p == 1 or _is_idle(input, p, train):
        return _dropped(input, p, train, mul, by_feature)
    noise = _coins(input, p, by_feature)
    scale = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    shift = _aten.mul_.Scalar(_aten.add.Scalar(noise, -1), _ALPHA * scale)
    shift = _aten.add_.Scalar(shift, _ALPHA * scale * p)
    return _aten.add_.Tensor(mul(input, _aten.mul_.Scalar(noise, scale)), shift)


def dropout(input: Any, p: float, train: bool) -> Any:
    """`input` with elements zeroed with probability `p` and the others scaled; itself when idle."""
    if 0 < p < 1 and train and input.device.type in _FUSED_DROPOUT and input.numel():
        return _aten.native_dropout.default(input, p, train)[0]
    return _dropped(input, p, train, _aten.mul.Tensor, False)


def dropout_(self: Any, p: float, train: bool) -> Any:
    """`dropout` in place."""
    return _dropped(self, p, train, _aten.mul_.Tensor, False)


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """`dropout` of whole channels."""
    return _dropped(input, p, train, _aten.mul.Tensor, True)


def feature_dropout_(self: Any, p: float, train: bool) -> Any:
    """`feature_dropout` in place."""
    return _dropped(self, p, train, _aten.mul_.Tensor, True)


def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`dropout` that keeps mean and variance of what selu gave."""
    return _alpha_dropped(input, p, train, _aten.mul.Tensor, False)


def alpha_dropout_(self: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` in place."""
    return _alpha_dropped(self, p, train, _aten.mul_.Tensor, False)


def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` of whole channels."""
    return _alpha_dropped(input, p, train, _aten.mul.Tensor, True)


def feature_alpha_dropout_(self: Any, p: float, train: bool) -> Any:
    """`feature_alpha_dropout` in place."""
    return _alpha_dropped(self, p, train, _aten.mul_.Tensor, True)


# ---- rrelu -------------------------------------------------------------------------------------


def _check_slopes(lower: Any, upper: Any) -> None:
    if lower > upper:
        raise refused(
            f"Lower bound should be less than or equal to the upper bound, got {lower} and {upper}"
        )


def rrelu(self: Any, lower: Any, upper: Any, training: bool, generator: Any) -> Any:
    """Negative elements times random slopes, or times the middle one."""
    _check_slopes(lower, upper)
    noise = _aten.empty_like.default(self, memory_format=contiguous_format)
    return _aten.rrelu_with_noise.default(self, noise, lower, upper, training, generator)


def rrelu_(self: Any, lower: Any, upper: Any, training: bool, generator: Any) -> Any:
    """`rrelu` in place."""
    _check_slopes(lower, upper)
    noise = _aten.empty_like.default(self, memory_format=contiguous_format)
    return _aten.rrelu_with_noise_.default(self, noise, lower, upper, training, generator)


def rrelu_with_noise_backward(
    grad_output: Any,
    self: Any,
    noise: Any,
    lower: Any,
    upper: Any,
    training: bool,
    self_is_result: bool,
) -> Any:
    """The gradient: times the slopes that were drawn, or as of leaky_relu with the middle one."""
    if training and upper - lower > 1e-6:
        return _aten.mul.Tensor(noise, grad_output)
    slope = (lower + upper) / 2
    return _aten.leaky_relu_backward.default(grad_output, self, slope, self_is_result)
