"""`torch.nn.init`: fill a tensor in place, without gradients, and give it back.

Those that handlers are asked for are those of PyTorch: `uniform_`, `normal_`, `constant_`,
`kaiming_uniform_`.
"""

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch._C.advice import advise
from dispatch._C.torch_function import _ask_torch_function, _has_torch_function

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal",
    "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_",
    "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform", "uniform_",
    "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_",
]  # fmt: skip

Tensor = dispatch.Tensor
_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}


def _asks(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`function`, asking handlers of its tensor first: they get all of it by keyword here."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def asking(*args: Any, **kwargs: Any) -> Any:
        given = args[:1] or (kwargs.get("tensor"),)
        if not _has_torch_function(given):
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _ask_torch_function(asking, given, (), bound.arguments)

    return asking


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
    columns, rows = tensor.size(1), tensor.size(0)
    field = math.prod(tensor.shape[2:]) if tensor.dim() > 2 else 1
    return columns * field, rows * field


@_asks
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Values between `a` and `b`."""
    with dispatch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


@_asks
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Values of a normal distribution."""
    with dispatch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


@_asks
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
    width = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    bound = math.sqrt(3.0) * width
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
    """Values of a normal distribution between `a` and `b`: others are drawn again.

    Where most values would be drawn again, even ones are taken in proportion to their density.
    Warns if `mean` is more than two `std` outside of the bounds. Meta tensors stay as they are.
    """
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        text = "trunc_normal_: mean is more than 2 std from [a, b]; values may be ill distributed"
        warnings.warn(text, stacklevel=2)
    low, high = ((1.0 + math.erf((bound - mean) / std / math.sqrt(2.0))) / 2.0 for bound in (a, b))
    with dispatch.no_grad():
        if high - low > 0.3:
            return _drawn_until_within(tensor, mean, std, (a, b), generator)
        return _drawn_by_density(tensor, mean, std, (a, b), generator)


def _drawn_until_within(
    tensor: Tensor, mean: float, std: float, bounds: tuple[float, float], generator: Any
) -> Tensor:
    """Normal values, those outside of the bounds (as the tensor's dtype has them) drawn again."""
    low, high = (tensor.new_tensor(bound, device="cpu").item() for bound in bounds)
    found = tensor.normal_(mean, std, generator=generator)
    while (outside := (found < low) | (found > high)).any():
        again = dispatch.empty_like(found).normal_(mean, std, generator=generator)
        found = dispatch.where(outside, again, found)
    return tensor if found is tensor else tensor.copy_(found)


def _drawn_by_density(
    tensor: Tensor, mean: float, std: float, bounds: tuple[float, float], generator: Any
) -> Tensor:
    """Even values between the bounds, each kept with the chance that the density gives it."""
    mode = max(bounds[0], min(mean, bounds[1]))
    peak = -0.5 * ((mode - mean) / std) ** 2
    values, chance = dispatch.empty_like(tensor), dispatch.empty_like(tensor)

    def refused(values: Tensor) -> Tensor:
        density = values.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chance.uniform_(generator=generator).log_().gt(density)

    found = tensor.uniform_(*bounds, generator=generator)
    pending = refused(values.copy_(found))
    while pending.any():
        found = dispatch.where(pending, values.uniform_(*bounds, generator=generator), found)
        pending = dispatch.where(pending, refused(values), pending)
    return tensor if found is tensor else tensor.copy_(found)


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


def _is_empty(tensor: Tensor) -> bool:
    """True of a tensor without elements, which stays as it is, with a warning."""
    if 0 not in tensor.shape:
        return False
    advise("a tensor without elements is not filled")
    return True


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
    if _is_empty(tensor):
        return tensor
    width = _kaiming_width(tensor, a, mode, nonlinearity)
    with dispatch.no_grad():
        return tensor.normal_(0, width, generator=generator)


@_asks
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Values that keep the variance over a layer with a nonlinearity; ValueError: another mode."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_width(tensor, a, mode, nonlinearity)
    with dispatch.no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution that gives its input's channels, as many as there are.

    Raises: ValueError for other than 3 to 5 dimensions, or groups that do not divide the first.
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    rows, columns = tensor.size(0), tensor.size(1)
    if rows % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    each = rows // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with dispatch.no_grad():
        tensor.zero_()
        for group in range(groups):
            for d in range(min(each, columns)):
                tensor[(group * each + d, d, *middle)] = 1
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Values of a normal distribution, and a part of each column 0; ValueError but for matrices."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.is_meta:
        return tensor
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    with dispatch.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[dispatch.randperm(rows)[:count], column] = 0
    return tensor


def _old(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function under its old name, which warns."""
    name = function.__name__[:-1]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
        warnings.warn(text, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    call.__name__ = name
    return call


uniform, normal, constant = _old(uniform_), _old(normal_), _old(constant_)
eye, dirac, sparse, orthogonal = _old(eye_), _old(dirac_), _old(sparse_), _old(orthogonal_)
xavier_uniform, xavier_normal = _old(xavier_uniform_), _old(xavier_normal_)
kaiming_uniform, kaiming_normal = _old(kaiming_uniform_), _old(kaiming_normal_)
