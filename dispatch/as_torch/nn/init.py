"""`torch.nn.init`: fill a tensor in place, without gradients, and give it back.

Those that handlers are asked for are those of PyTorch: `uniform_`, `normal_`, `constant_`,
`kaiming_uniform_`.
"""

import math
from typing import Any

import dispatch
from dispatch.as_torch.nn.asking import asks

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_",
    "ones_", "orthogonal_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_",
    "zeros_",
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


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """`xavier_uniform_` with values of a normal distribution."""
    width = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    with dispatch.no_grad():
        return tensor.normal_(0.0, width, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Values of a normal distribution between `a` and `b`, by the inverse of its integral."""
    low, high = ((1.0 + math.erf((bound - mean) / std / math.sqrt(2.0))) / 2.0 for bound in (a, b))
    with dispatch.no_grad():
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix; ValueError for other numbers of dimensions."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with dispatch.no_grad():
        return tensor.copy_(dispatch.eye(*tensor.shape))


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Rows (or columns) at right angles; ValueError below two dimensions."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
    wide = rows < flat.size(1)
    q, r = dispatch.linalg.qr(flat.t() if wide else flat)
    q = q * dispatch.diag(r, 0).sign()
    with dispatch.no_grad():
        return tensor.copy_((q.t() if wide else q).view(tensor.shape)).mul_(gain)


def _kaiming_width(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    """The standard deviation that keeps the variance; ValueError: another mode."""
    modes = ("fan_in", "fan_out")
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    fan = _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """`kaiming_uniform_` with values of a normal distribution."""
    if 0 in tensor.shape:
        return tensor
    width = _kaiming_width(tensor, a, mode, nonlinearity)
    with dispatch.no_grad():
        return tensor.normal_(0, width, generator=generator)


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
    bound = math.sqrt(3.0) * _kaiming_width(tensor, a, mode, nonlinearity)
    with dispatch.no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)
