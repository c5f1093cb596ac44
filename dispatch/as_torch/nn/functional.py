"""`torch.nn.functional`: functions of neural networks.

Those that are operators themselves (`linear`, `conv2d`, `gelu`) are found when they are first
asked for; the others are Python above the dispatcher, as in PyTorch.
"""

from typing import Any

import dispatch
from dispatch._C import _nn
from dispatch.as_torch.nn import attention, layers, losses, resampling
from dispatch.as_torch.nn.attention import *  # noqa: F403
from dispatch.as_torch.nn.layers import *  # noqa: F403
from dispatch.as_torch.nn.layers import _threshold as _threshold
from dispatch.as_torch.nn.losses import *  # noqa: F403
from dispatch.as_torch.nn.resampling import *  # noqa: F403
from dispatch.modes import (
    handle_torch_function as handle_torch_function,
    has_torch_function as has_torch_function,
    has_torch_function_unary as has_torch_function_unary,
    has_torch_function_variadic as has_torch_function_variadic,
)

_OF_PACKAGE = """
    adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity hardshrink
    native_channel_shuffle pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rrelu_
    selu_ threshold_
    """
_OF_NN = """
    avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear one_hot
    scaled_dot_product_attention softplus softshrink
    """
_OPERATORS = {
    **{name: (dispatch, name) for name in _OF_PACKAGE.split()},
    **{name: (_nn, name) for name in _OF_NN.split()},
    "grouped_mm": (dispatch, "_grouped_mm"),
    "logsigmoid": (_nn, "log_sigmoid"),
}
__all__ = sorted(
    [*attention.__all__, *layers.__all__, *losses.__all__, *resampling.__all__, *_OPERATORS]
)


def __getattr__(name: str) -> Any:
    """Functions that are operators."""
    if name not in _OPERATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(*_OPERATORS[name])
    return found


def __dir__() -> list[str]:
    return __all__
