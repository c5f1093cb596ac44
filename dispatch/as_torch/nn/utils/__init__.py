"""`torch.nn.utils`: parameters as one vector, norms of gradients and of weights, fused modules."""

from dispatch.as_torch.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from dispatch.as_torch.nn.utils.gradients import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from dispatch.as_torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from dispatch.as_torch.nn.utils.vectors import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
    parameters_to_vector,
    skip_init,
    vector_to_parameters,
)
from dispatch.as_torch.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    "get_total_norm", "parameters_to_vector", "remove_spectral_norm", "remove_weight_norm",
    "skip_init", "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip
