"""Losses of `torch.nn.functional`.

Arguments, defaults and what handlers see are PyTorch's. `reduction` is none, mean or sum; the two
flags `size_average` and `reduce` of old programs win over it (`reduction_of`).
"""

import math
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C import _nn
from dispatch._C.advice import advise
from dispatch._C.torch_function import _ask_torch_function, _has_torch_function
from dispatch.as_torch.nn.asking import asks, asks_also, reduction_of
from dispatch.tensor.functions import broadcast_tensors

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "linear_cross_entropy", "margin_ranking_loss", "mse_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "nll_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip

Flag = bool | None


def _reduced(loss: Tensor, number: int) -> Tensor:
    return loss if number == 0 else loss.mean() if number == 1 else loss.sum()


def _pair(name: str, input: Tensor, target: Tensor) -> list[Tensor]:
    """Both, broadcast; a warning where they differ in shape."""
    if target.size() != input.size():
        advise(
            f"{name}: input of shape {tuple(input.shape)} and target of shape "
            f"{tuple(target.shape)} are broadcast. Please ensure they have the same size."
        )
    return list(broadcast_tensors(input, target))


def _weighted(loss: Tensor, weight: Tensor, number: int) -> Tensor:
    """Elements times weights; the mean is over the weights' sum."""
    total = loss * weight
    if number == 1:
        return total.sum() / weight.sum()
    return _reduced(total, number)


def _check_weight(name: str, input: Tensor, weight: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError(
            f"{name}: expected weight of shape {tuple(input.shape)}, got {tuple(weight.shape)}"
        )


def _of_pairs(
    name: str, input: Tensor, target: Tensor, weight: Tensor | None, number: int, *more: float
) -> Tensor:
    """A loss of each pair of elements, each times its weight if there are weights."""
    pair, loss = _pair(name, input, target), getattr(_nn, name)
    if weight is None:
        return loss(*pair, number, *more)
    _check_weight(name, input, weight)
    return _weighted(loss(*pair, 0, *more), weight, number)


@asks_also("weight")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target) ** 2."""
    number = reduction_of("mse_loss", reduction, size_average, reduce)
    return _of_pairs("mse_loss", input, target, weight, number)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|. Handlers do not hear of `weight`, as in PyTorch."""
    if _has_torch_function((input, target)):
        told = {"size_average": size_average, "reduce": reduce, "reduction": reduction}
        shown: Tensor = _ask_torch_function(l1_loss, (input, target), (input, target), told)
        return shown
    number = reduction_of("l1_loss", reduction, size_average, reduce)
    return _of_pairs("l1_loss", input, target, weight, number)


@asks
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squares below `beta`, |input - target| above."""
    number = reduction_of("smooth_l1_loss", reduction, size_average, reduce)
    pair = _pair("smooth_l1_loss", input, target)
    if beta == 0.0:
        return _nn.l1_loss(*pair, number)
    return _nn.smooth_l1_loss(*pair, number, beta)


@asks_also("weight")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Half the square below `delta`, linear above."""
    number = reduction_of("huber_loss", reduction)
    return _of_pairs("huber_loss", input, target, weight, number, delta)


@asks_also("weight")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    ignore_index: int = -100,
    reduce: Flag = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log(softmax(input)) at the classes of `target`, or against its probabilities."""
    number = reduction_of("cross_entropy", reduction, size_average, reduce)
    return _nn.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


@asks_also("linear_bias", "weight")
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of `linear(input, linear_weight, linear_bias)`.

    Args:
        linear_weight: (classes, *, features); what stands between are places of the target.
        options: how to do it in chunks, for less memory; the result is the same.

    Raises:
        RuntimeError: sizes that do not fit; an `ignore_index` beside probabilities.
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(
            "linear_cross_entropy: expected input with dimensionality 1 or 2, got "
            f"{input.dim()}"
        )
    if linear_weight.dim() < 2:
        raise RuntimeError(
            "linear_cross_entropy: expected linear_weight with dimensionality at least 2, got "
            f"{linear_weight.dim()}"
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "linear_cross_entropy: expected equal input and linear_weight last dimensions "
            f"(in_features), got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    outer = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outer:
        raise RuntimeError(
            f"linear_cross_entropy: expected linear_bias shape {outer}, got "
            f"{tuple(linear_bias.shape)}"
        )
    if len(outer) > 1 and input.dim() == 1:
        raise RuntimeError(
            "linear_cross_entropy: K-dimensional loss defined by linear_weight shape "
            f"{tuple(linear_weight.shape)} requires batched input, (N, {input.shape[0]}), got "
            f"unbatched input with shape ({input.shape[0]},)"
        )
    shape = (*input.shape[:-1], *outer)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError(
            "linear_cross_entropy: ignore_index cannot be specified when target contains "
            "probabilities"
        )
    matrix, bias = linear_weight, linear_bias
    if len(outer) > 1:
        classes = math.prod(outer)
        matrix = linear_weight.reshape(classes, input.shape[-1])
        bias = None if linear_bias is None else linear_bias.reshape(classes)
    logits = _nn.linear(input, matrix, bias).reshape(shape)
    return cross_entropy(
        logits, target, weight=weight, reduction=reduction, label_smoothing=label_smoothing,
        ignore_index=-100 if ignore_index is None else ignore_index,
    )  # fmt: skip


@asks_also("weight")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    ignore_index: int = -100,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """-input at the classes of `target`."""
    number = reduction_of("nll_loss", reduction, size_average, reduce)
    return _nn.nll_loss_nd(input, target, weight, number, ignore_index)


@asks
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log(target) - input); `batchmean` divides the sum by the batch."""
    if reduction == "batchmean" and size_average is None and reduce is None:
        found = dispatch.kl_div(input, target, 2, log_target=log_target)
        return found / input.size(0) if input.dim() else found
    number = reduction_of("kl_div", reduction, size_average, reduce)
    if number == 1:
        advise(
            "reduction: 'mean' divides the total loss by both the batch size and the support size, "
            "which is not the divergence: 'batchmean' is"
        )
    return dispatch.kl_div(input, target, number, log_target=log_target)


@asks_also("weight")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target * log(input) + (1 - target) * log(1 - input)). ValueError for other shapes."""
    number = reduction_of("binary_cross_entropy", reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"binary_cross_entropy: Using a target size ({target.size()}) that is different to the "
            f"input size ({input.size()})"
        )
    if weight is not None:
        weight = weight.expand(dispatch.broadcast_shapes(weight.shape, target.shape))
    return _nn.binary_cross_entropy(input, target, weight, number)


@asks_also("weight", "pos_weight")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input). ValueError for other shapes."""
    number = reduction_of("binary_cross_entropy_with_logits", reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"binary_cross_entropy_with_logits: expected target of shape {tuple(input.shape)}, "
            f"got {tuple(target.shape)}"
        )
    return dispatch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


@asks
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Flag = None,
    eps: float = 1e-8,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(input) - target * input, or of a rate that is given itself."""
    number = reduction_of("poisson_nll_loss", reduction, size_average, reduce)
    return dispatch.poisson_nll_loss(input, target, log_input, full, eps, number)


@asks
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log(var) + (input - target) ** 2 / var) / 2; `var` a number or a tensor, `eps` at least.

    Raises: ValueError for a negative one, and for a shape that differs in more than one dimension,
        which is 1 or is not there.
    """
    number = reduction_of("gaussian_nll_loss", reduction)
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError(f"gaussian_nll_loss: var has negative entry/entries: {var}")
        var = var * dispatch.ones_like(input)
    elif dispatch.any(var < 0):
        raise ValueError("gaussian_nll_loss: var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = dispatch.unsqueeze(var, -1)
        elif input.dim() != var.dim() or [
            m for n, m in zip(input.size(), var.size(), strict=True) if n != m
        ] != [1]:
            raise ValueError(
                f"gaussian_nll_loss: var is of incorrect size: {tuple(var.shape)} for input of "
                f"{tuple(input.shape)}"
            )
    var = var.clone()
    with dispatch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (dispatch.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.9189385332046727  # log(2 * pi) / 2
    return _reduced(loss, number)


@asks
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where `target` is 1, cos above `margin` where it is -1."""
    number = reduction_of("cosine_embedding_loss", reduction, size_average, reduce)
    return dispatch.cosine_embedding_loss(input1, input2, target, margin, number)


@asks
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin). RuntimeError for other ranks."""
    number = reduction_of("margin_ranking_loss", reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        ranks = f"{input1.dim()}, {input2.dim()} and {target.dim()}"
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got {ranks}"
        )
    return dispatch.margin_ranking_loss(input1, input2, target, margin, number)


@asks
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """x where `target` is 1, max(0, margin - x) where it is -1."""
    number = reduction_of("hinge_embedding_loss", reduction, size_average, reduce)
    return dispatch.hinge_embedding_loss(input, target, margin, number)


@asks
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target * input))."""
    number = reduction_of("soft_margin_loss", reduction, size_average, reduce)
    return _nn.soft_margin_loss(input, target, number)


@asks
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinges between the classes of `target` (up to the first -1) and the others."""
    number = reduction_of("multilabel_margin_loss", reduction, size_average, reduce)
    return _nn.multilabel_margin_loss(input, target, number)


@asks_also("weight")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """One against all, by logistic losses: the mean over classes."""
    number = reduction_of("multilabel_soft_margin_loss", reduction, size_average, reduce)
    log = dispatch.ops.aten.log_sigmoid.default
    loss = -(target * log(input) + (1 - target) * log(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(dim=input.dim() - 1) / input.size(-1), number)


@asks_also("weight")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin - input at the class + input elsewhere) ** p. ValueError for p but 1 and 2."""
    number = reduction_of("multi_margin_loss", reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.dim() != 1:
        raise ValueError(
            f"multi_margin_loss: weight must be one-dimensional, got {weight.dim()} dimensions"
        )
    return _nn.multi_margin_loss(input, target, p, margin, weight, number)


@asks
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, distance to `positive` - distance to `negative` + margin). ValueError: margin <= 0."""
    number = reduction_of("triplet_margin_loss", reduction, size_average, reduce)
    _check_margin("triplet_margin_loss", margin)
    return dispatch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: margin must be greater than 0, got {margin}")


@asks
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own."""
    number = reduction_of("triplet_margin_with_distance_loss", reduction)
    _check_margin("triplet_margin_with_distance_loss", margin)
    distance = dispatch.pairwise_distance if distance_function is None else distance_function
    if not anchor.dim() == positive.dim() == negative.dim():
        ranks = (
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D"
        )
        raise RuntimeError(
            "triplet_margin_with_distance_loss: The anchor, positive, and negative tensors are "
            f"expected to have the same number of dimensions, but got: {ranks} inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = dispatch.minimum(far, distance(positive, negative))
    return _reduced(dispatch.clamp_min(margin + near - far, 0), number)


@asks
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of all alignments of `targets` with (T, N, C) `log_probs`."""
    number = reduction_of("ctc_loss", reduction)
    return dispatch.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, number, zero_infinity
    )
