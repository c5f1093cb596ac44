"""`torch.nn.init`: fill a tensor in place, without gradients, and give it back.

Those that handlers are asked for are those of PyTorch: `uniform_`, `normal_`, `constant_`,
`kaiming_uniform_`.
"""

import math
from typing import Any

import dispatch
from dispatch.as_torch.nn.asking import asks

__all__ = [
    "calculate_gain", "constant_", "kaiming_uniform_", "normal_", "ones_", "uniform_",
    "xavier_uniform_", "zeros_",
]  # fmt: skip

Tensor = dispatch.Tensor
_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before a nonlinearity are larger.

    ValueError: an unknown nonlinearity, or a slope that is no number.
    """
    linear = ("linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)))
    if nonlinearity in linear:
        return 1.0
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output sees, and outputs an input; ValueError below two dimensions."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


@asks
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Values between `a` and `b`."""
    with dispatch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


@asks
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Values of a normal distribution."""
    with dispatch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


@asks
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value."""
    with dispatch.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    with dispatch.no_grad():
        return tensor.fill_(1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    with dispatch.no_grad():
        return tensor.zero_()


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Values that keep the variance over a layer forwards and backwards."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    with dispatch.no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)


@asks
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Values that keep the variance over a layer with a nonlinearity; ValueError: another mode."""
    if 0 in tensor.shape:
        return tensor
    modes = ("fan_in", "fan_out")
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    fan = _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(fan)
    with dispatch.no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)
