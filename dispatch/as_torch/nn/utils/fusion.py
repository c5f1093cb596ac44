"""`torch.nn.utils.fusion`: a batch norm that learns no more, taken into the layer before it."""

import copy
from typing import Any

import dispatch
from dispatch.as_torch.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """The weight and bias of a convolution that does the batch norm's work too.

    Args: the convolution's weight and bias; the batch norm's running mean and variance, eps, weight
    and bias (None: without); transpose, the weight's channels of the output are its second
    dimension.
    """
    kind = conv_w.dtype if conv_b is None else conv_b.dtype
    conv_b = dispatch.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = dispatch.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = dispatch.zeros_like(bn_rm) if bn_b is None else bn_b
    inverse = dispatch.rsqrt(bn_rv + bn_eps)
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    weight = (conv_w * (bn_w * inverse).reshape(shape)).to(dtype=conv_w.dtype)
    bias = ((conv_b - bn_rm) * inverse * bn_w + bn_b).to(dtype=kind)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a convolution that does the work of the batch norm after it too.

    Raises: AssertionError when one of them is in training.
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a linear layer that does the batch norm's work too."""
    kind = linear_w.dtype if linear_b is None else linear_b.dtype
    linear_b = dispatch.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * dispatch.rsqrt(bn_rv + bn_eps)
    weight = (linear_w * scale.unsqueeze(-1)).to(dtype=linear_w.dtype)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(dtype=kind)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of a linear layer that does the work of the batch norm after it too.

    Raises: AssertionError when one of them is in training, or for other numbers of features.
    """
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            f"fuse_linear_bn_eval: {linear.out_features} features and a batch norm of "
            f"{bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("fusion needs a batch norm with running mean and variance")
