"""Activations, dropouts, norms and embeddings of `torch.nn.functional`.

Arguments, defaults and what handlers see are PyTorch's; each function checks what PyTorch checks
above the dispatcher, and calls the operators that PyTorch calls.
"""

import math
from collections.abc import Sequence
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C import _nn
from dispatch._C.advice import advise
from dispatch.as_torch.nn.asking import asks, asks_also, check_probability

__all__ = [
    "alpha_dropout", "batch_norm", "celu", "dropout", "dropout1d", "dropout2d", "dropout3d",
    "elu", "embedding", "embedding_bag", "feature_alpha_dropout", "glu", "group_norm",
    "gumbel_softmax", "hardsigmoid", "hardswish", "hardtanh", "instance_norm", "layer_norm",
    "leaky_relu", "local_response_norm", "log_softmax", "mish", "normalize", "relu",
    "relu6", "rms_norm", "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin",
    "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip

# ---- activations


@asks
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x), into `input` itself when `inplace`."""
    return dispatch.relu_(input) if inplace else dispatch.relu(input)


@asks
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(0, x), 6)."""
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


@asks
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


@asks
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with the two constants of self-normalising networks."""
    return dispatch.selu_(input) if inplace else dispatch.selu(input)


@asks
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    return dispatch.celu_(input, alpha) if inplace else dispatch.celu(input, alpha)


@asks
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, else negative_slope * x."""
    function = _nn.leaky_relu_ if inplace else _nn.leaky_relu
    return function(input, negative_slope)


@asks
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """`leaky_relu` with slopes drawn between `lower` and `upper` in training, else their mean."""
    return (dispatch.rrelu_ if inplace else dispatch.rrelu)(input, lower, upper, training)


@asks
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x held between the two. ValueError if they are in the wrong order."""
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} and {max_val}")
    return (_nn.hardtanh_ if inplace else _nn.hardtanh)(input, min_val, max_val)


@asks
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


@asks
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


@asks
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _nn.silu_(input) if inplace else _nn.silu(input)


@asks
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _nn.mish_(input) if inplace else _nn.mish(input)


@asks
def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above `threshold`, else `value`."""
    return (dispatch.threshold_ if inplace else dispatch.threshold)(input, threshold, value)


threshold = _threshold  # handlers see it under its private name, as PyTorch's


@asks
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """One half along `dim` times the sigmoid of the other. RuntimeError for a 0-d tensor."""
    if input.dim() == 0:
        raise RuntimeError("glu: expected a dimension that can be halved, got a 0-d tensor")
    return _nn.glu(input, dim)


def sigmoid(input: Tensor) -> Tensor:
    """`input.sigmoid()`."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """`input.tanh()`."""
    return input.tanh()


@asks
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


@asks
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def _old_dim(name: str, ndim: int) -> int:
    """The dimension that old programs mean when they give none."""
    advise(f"{name}: say which dimension: dim=...")
    return 0 if ndim in (0, 1, 3) else 1


@asks
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """exp(x) divided by its sum along `dim`, computed in `dtype` if that is given."""
    dim = _old_dim("softmax", input.dim()) if dim is None else dim
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


@asks
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of -x."""
    dim = _old_dim("softmin", input.dim()) if dim is None else dim
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


@asks
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """The logarithm of `softmax`."""
    dim = _old_dim("log_softmax", input.dim()) if dim is None else dim
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


@asks
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample of the Gumbel-softmax distribution; `hard`: one-hot. `eps` has no effect."""
    if eps != 1e-10:
        advise("gumbel_softmax: eps is deprecated, and has no effect")
    empty = dispatch.empty_like(logits, memory_format=dispatch.contiguous_format)
    gumbels = -empty.exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    zeros = dispatch.zeros_like(logits, memory_format=dispatch.contiguous_format)
    return zeros.scatter_(dim, index, 1.0) - soft.detach() + soft


# ---- dropouts


@asks
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements are 0 with probability `p`, the others divided by 1 - p; ValueError for such a p."""
    check_probability("dropout", p)
    return (dispatch.dropout_ if inplace else dispatch.dropout)(input, p, training)


@asks
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`dropout` that keeps mean and variance below `selu`."""
    check_probability("alpha_dropout", p)
    return (dispatch.alpha_dropout_ if inplace else dispatch.alpha_dropout)(input, p, training)


@asks
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels."""
    check_probability("feature_alpha_dropout", p)
    function = dispatch.feature_alpha_dropout_ if inplace else dispatch.feature_alpha_dropout
    return function(input, p, training)


def _drop_channels(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    check_probability(name, p)
    function = dispatch.feature_dropout_ if inplace else dispatch.feature_dropout
    return function(input, p, training)


def _drop_first(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Channels without a batch: those of the first dimension."""
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    found = _drop_channels(name, batch, p, training, inplace)
    return found.squeeze_(0) if inplace else found.squeeze(0)


@asks
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """`dropout` of whole channels of (N, C, L) or (C, L). RuntimeError for other ranks."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: expected 2 or 3 dimensions, got {input.dim()}")
    if input.dim() == 3:
        return _drop_channels("dropout1d", input, p, training, inplace)
    return _drop_first("dropout1d", input, p, training, inplace)


def _warn_ranks(name: str, input: Tensor, ranks: tuple[int, ...]) -> None:
    """Other ranks than those of channels are taken, with a warning."""
    if input.dim() not in ranks:
        expected = " or ".join(map(str, ranks))
        advise(f"{name}: expected {expected} dimensions, got {input.dim()}")


@asks
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """`dropout` of whole channels of (N, C, H, W); a warning for other ranks."""
    _warn_ranks("dropout2d", input, (4,))
    return _drop_channels("dropout2d", input, p, training, inplace)


@asks
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """`dropout` of whole channels of (N, C, D, H, W) or (C, D, H, W); a warning for other ranks."""
    _warn_ranks("dropout3d", input, (4, 5))
    if input.dim() == 5:
        return _drop_channels("dropout3d", input, p, training, inplace)
    return _drop_first("dropout3d", input, p, training, inplace)


# ---- norms


@asks
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """x divided by its p-norm along `dim`, which counts as `eps` at least."""
    norm = input.norm(p, dim, keepdim=True)
    if out is None:
        return input / norm.clamp_min(eps).expand_as(input)
    return dispatch.div(input, norm.clamp_min_(eps).expand_as(input), out=out)


@asks_also("weight", "bias")
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last dimensions, times weight plus bias."""
    return dispatch.layer_norm(input, normalized_shape, weight, bias, eps, False)


@asks_also("weight")
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """x / sqrt(mean(x * x) + eps) over the last dimensions, times weight."""
    return dispatch.rms_norm(input, normalized_shape, weight, eps)


@asks_also("weight", "bias")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """`layer_norm` over groups of channels. RuntimeError below two dimensions."""
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    sizes = list(input.size())
    _check_several("group_norm", [sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]])
    return dispatch.group_norm(input, num_groups, weight, bias, eps, False)


def _check_several(name: str, sizes: Sequence[int]) -> None:
    """ValueError where there is one value for each channel: it has no variance."""
    if math.prod([sizes[0], *sizes[2:]]) == 1:
        raise ValueError(
            f"{name}: Expected more than 1 value per channel when training, got input size "
            f"{dispatch.Size(sizes)}"
        )


@asks_also("weight", "bias")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Channels normalised over the batch in training, else by the running mean and variance."""
    if training:
        _check_several("batch_norm", list(input.size()))
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return dispatch.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )


@asks_also("running_mean", "running_var", "weight", "bias")
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Each channel of each instance normalised."""
    if use_input_stats and math.prod(list(input.size())[2:]) == 1:
        raise ValueError(
            "instance_norm: Expected more than 1 spatial element when training, got input size "
            f"{input.size()}"
        )
    return dispatch.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False
    )


@asks
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x divided by (k + alpha * mean of squares of `size` channels beside it) ** beta."""
    dims = input.dim()
    if dims < 3:
        raise ValueError(
            f"local_response_norm: Expected 3D or higher dimensionality, got {dims}D"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    around = (size // 2, (size - 1) // 2)
    if dims == 3:
        padded = _nn.pad(squares.unsqueeze(1), [0, 0, *around])
        mean = _nn.avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    else:
        sizes = list(input.size())
        folded = squares.view(sizes[0], 1, sizes[1], sizes[2], -1)
        padded = _nn.pad(folded, [0, 0, 0, 0, *around])
        mean = _nn.avg_pool3d(padded, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / mean.mul(alpha).add(k).pow(beta)


# ---- embeddings


def _row(name: str, padding_idx: int | None, rows: int) -> int | None:
    """`padding_idx` counted from the front. AssertionError where there is no such row."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(
            f"{name}: Padding_idx must be within num_embeddings: {rows}, got {padding_idx}"
        )
    return padding_idx + rows if padding_idx < 0 else padding_idx


def _renormed(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    with dispatch.no_grad():
        dispatch.embedding_renorm_(weight.detach(), input, max_norm, norm_type)


@asks
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` at the integers of `input`."""
    row = _row("embedding", padding_idx, weight.size(0))
    if max_norm is not None:
        input = input.contiguous()
        _renormed(weight, input, max_norm, norm_type)
    return dispatch.embedding(weight, input, -1 if row is None else row, scale_grad_by_freq, sparse)


_BAGS = {"sum": 0, "mean": 1, "max": 2}


@asks_also("offsets", "per_sample_weights")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of rows of `weight`, over the bags that begin at `offsets`.

    A 2-d `input` has a bag in each row. Raises: ValueError for other ranks, offsets of another
    rank, a mode that is none, and weights of another shape.
    """
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: expected per_sample_weights of shape {tuple(input.shape)}, got "
            f"{tuple(per_sample_weights.shape)}"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("embedding_bag: if input is 2D, then offsets has to be None")
        offsets = dispatch.arange(
            0, input.numel(), input.size(1), dtype=input.dtype, device=input.device
        )
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() != 1:
        raise ValueError(f"embedding_bag: input has to be 1D or 2D Tensor, got {input.dim()}D")
    elif offsets is None:
        raise ValueError("embedding_bag: offsets has to be a 1D Tensor but got None")
    elif offsets.dim() != 1:
        raise ValueError("embedding_bag: offsets has to be a 1D Tensor")
    if mode not in _BAGS:
        raise ValueError(f"embedding_bag: mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError(
            "embedding_bag: max mode does not support scaling the gradient by the frequency"
        )
    row = _row("embedding_bag", padding_idx, weight.size(0))
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None, which only mode='sum' supports"
        )
    return dispatch.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, _BAGS[mode], sparse, per_sample_weights,
        include_last_offset, row,
    )[0]  # fmt: skip
