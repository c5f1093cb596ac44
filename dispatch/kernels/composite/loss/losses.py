"""Losses and distances, written with elementwise operators and reductions.

Called for tensors of all kinds; the operators underneath are those of PyTorch, in its order.
`reduction`: 0 none, 1 the mean, 2 the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cosine_similarity",
    "dist",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "multilabel_margin_loss",
    "multilabel_margin_loss_out",
    "nll_loss2d_out",
    "nll_loss_out",
    "norm",
    "norm_dtype",
    "pairwise_distance",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

_aten = ops.aten
_MEAN, _SUM = 1, 2
_EPSILON = 9.999999960041972e-13  # 1e-12 as a float32


def _reduced(values: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return _aten.mean(values)
    return _aten.sum(values) if reduction == _SUM else values


def l1_loss(self: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    """The distance of self and target."""
    return _reduced(_aten.abs(_aten.sub.Tensor(self, target)), reduction)


def kl_div(
    self: Tensor, target: Tensor, reduction: int = _MEAN, *, log_target: bool = False
) -> Tensor:
    """target * (log(target) - self)."""
    if self.dtype.is_complex or target.dtype.is_complex:
        raise refused("self and target must be real")
    if not (self.dtype.is_floating_point and target.dtype.is_floating_point):
        raise refused("self and target must be floating")
    if log_target:
        difference = _aten.sub.Tensor(target, self)
        return _reduced(_aten.mul.Tensor(_aten.exp(target), difference), reduction)
    product = _aten.mul.Tensor(target, self)
    return _reduced(_aten.sub.Tensor(_aten.xlogy.Tensor(target, target), product), reduction)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor:
    """The p-norm of the differences along the last dimension."""
    last = max(x1.ndim, x2.ndim) - 1
    difference = _aten.add.Scalar(_aten.sub.Tensor(x1, x2), eps)
    return _aten.norm.ScalarOpt_dim(difference, p, [last], keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """Products of vectors along `dim` over their lengths, which count as `eps` at least."""
    kind = rules.result_type(x1, x2)
    if not kind.is_floating_point:
        raise refused(f"expected common dtype to be floating point, got {kind}")
    first, second = (t if t.dtype is kind else _aten.to.dtype(t, kind) for t in (x1, x2))
    sizes = list(rules.broadcast_shapes(list(first.shape), list(second.shape)))
    second, first = (
        t if list(t.shape) == sizes else _aten.expand(t, sizes) for t in (second, first)
    )
    lengths = [_aten.clone(_aten.linalg_vector_norm(t, 2, [dim], True)) for t in (first, second)]
    least = _aten.scalar_tensor(eps, dtype=kind, device=first.device)
    for length in lengths:
        _aten.clamp_min_.Tensor(length, least)
    second = _aten.div.Tensor(second, lengths[1])
    first = _aten.div.Tensor(first, lengths[0])
    return _aten.sum.dim_IntList(_aten.mul.Tensor(first, second), [dim])


def dist(self: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """The p-norm of the difference."""
    return _aten.norm.Scalar(_aten.sub.Tensor(self, other), p)


def norm(self: Tensor, p: Any = 2) -> Tensor:
    """The p-norm of all elements."""
    return _aten.norm.ScalarOpt_dim(self, p, [], False)


def norm_dtype(self: Tensor, p: Any, *, dtype: dtypes.dtype) -> Tensor:
    """The same, computed in another dtype."""
    return _aten.norm.ScalarOpt_dim_dtype(self, p, [], False, dtype=dtype)


def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = _MEAN,
) -> Tensor:
    """Cross entropy of two classes, for values before the sigmoid."""
    logs = _aten.log_sigmoid(self)
    if pos_weight is not None:
        factor = _aten.add_.Scalar(
            _aten.mul.Tensor(_aten.sub.Tensor(pos_weight, _ones(pos_weight)), target), 1
        )
        logs = _aten.mul.Tensor(logs, factor)
    rest = _aten.rsub.Scalar(target, 1)
    # With data PyTorch works in the target's memory: nothing may be larger, or of a higher dtype.
    mul, sub = (_aten.mul_, _aten.sub_) if rules.is_eager(self) else (_aten.mul, _aten.sub)
    loss = sub.Tensor(mul.Tensor(rest, self), logs)
    if weight is not None:
        loss = mul.Tensor(loss, weight)
    return _reduced(loss, reduction)


def _ones(like: Tensor) -> Tensor:
    return _aten.ones_like(like)


# ---- margins -----------------------------------------------------------------------------------


def _contiguous_zeros(like: Tensor) -> Tensor:
    return _aten.zeros_like(like, memory_format=dtypes.contiguous_format)


def _empty_like(like: Tensor) -> Tensor:
    return _aten.empty_like(like, memory_format=dtypes.preserve_format)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = _MEAN
) -> Tensor:
    """1 less the cosine of pairs that should be alike (1), what exceeds `margin` of others (-1)."""
    dim = target.ndim
    if dim > 1:
        raise refused(f"0D or 1D target tensor expected, got {list(target.shape)}")
    for name, given in (("input1", input1), ("input2", input2)):
        if given.ndim != dim + 1:
            raise refused(
                f"{dim}D target tensor expects {dim + 1}D input tensors, got {name} of "
                f"{list(given.shape)}"
            )
    product = _aten.sum.dim_IntList(_aten.mul.Tensor(input1, input2), [dim])
    squares = [
        _aten.add.Scalar(_aten.sum.dim_IntList(_aten.mul.Tensor(t, t), [dim]), _EPSILON)
        for t in (input1, input2)
    ]
    cosine = _aten.div.Tensor(product, _aten.sqrt_(_aten.mul.Tensor(*squares)))
    zeros = _contiguous_zeros(cosine)
    alike = _aten.sub_.Tensor(_aten.fill_.Scalar(_empty_like(cosine), 1), cosine)
    others = _aten.clamp_min_(_aten.sub.Scalar(cosine, margin), 0)
    return _reduced(_by_sign(target, alike, others, zeros, _aten.eq.Scalar), reduction)


def _by_sign(target: Tensor, one: Tensor, other: Tensor, zeros: Tensor, compare: Any) -> Tensor:
    """`one` where `compare(target, 1)`, and `other` where `compare(target, -1)`."""
    first = _aten.where.self(compare(target, 1), one, zeros)
    second = _aten.where.self(compare(target, -1), other, zeros)
    return _aten.add.Tensor(first, second)


def hinge_embedding_loss(
    self: Tensor, target: Tensor, margin: float = 1.0, reduction: int = _MEAN
) -> Tensor:
    """Distances of what should be alike (1), and what others (-1) lack to `margin`."""
    zeros = _contiguous_zeros(self)
    from_margin = _aten.fill_.Scalar(_empty_like(self), margin)
    lack = _aten.clamp_min_(_aten.sub_.Tensor(from_margin, self), 0)
    return _reduced(_by_sign(target, lack, self, zeros, _aten.ne.Scalar), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = _MEAN
) -> Tensor:
    """What the difference of input1 and input2, in the target's direction, lacks to `margin`."""
    difference = _aten.sub.Tensor(input1, input2)
    against = _aten.mul.Tensor(_aten.neg(target), difference)
    return _reduced(_aten.clamp_min_(_aten.add.Scalar(against, margin), 0), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = _MEAN,
) -> Tensor:
    """What the distance to `negative` lacks to `margin` more than that to `positive`."""
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise refused(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            "dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and "
            f"negative {negative.ndim}D inputs"
        )
    near = _aten.pairwise_distance(anchor, positive, p, eps)
    far = _aten.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = _aten.min.other(far, _aten.pairwise_distance(positive, negative, p, eps))
    lack = _aten.sub.Tensor(_aten.add.Scalar(near, margin), far)
    return _reduced(_aten.clamp_min(lack, 0), reduction)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """Minus the logarithm of a Poisson distribution; `full`: with Stirling's term."""
    if log_input:
        expected = _aten.mul.Tensor(target, input)
        loss = _aten.sub.Tensor(_aten.exp(input), expected)
    else:
        logs = _aten.log(_aten.add.Scalar(input, eps))
        loss = _aten.sub.Tensor(input, _aten.mul.Tensor(target, logs))
    if full:
        half = _aten.mul.Scalar(_aten.log(_aten.mul.Scalar(target, 2 * math.pi)), 0.5)
        term = _aten.sub.Tensor(_aten.mul.Tensor(target, _aten.log(target)), target)
        term = _aten.add.Tensor(term, half)
        term = _aten.masked_fill.Scalar(term, _aten.le.Scalar(target, 1), 0)
        loss = _aten.add_.Tensor(loss, term)
    return _reduced(loss, reduction)


def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    """The first result of `multilabel_margin_loss_forward`."""
    loss: Tensor = _aten.multilabel_margin_loss_forward(self, target, reduction)[0]
    return loss


def multilabel_margin_loss_out(
    self: Tensor, target: Tensor, reduction: int = _MEAN, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    marks = _aten.empty([0], dtype=self.dtype, device=self.device)
    _aten.multilabel_margin_loss_forward.output(
        self, target, reduction, output=out, is_target=marks
    )
    return out


# ---- classes: `classes` has the others ---------------------------------------------------------


def _of_classes(forward: Any) -> Callable[..., Tensor]:
    """The first result of `forward`, into the one that is given."""

    def kernel(
        self: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        reduction: int = _MEAN,
        ignore_index: int = -100,
        *,
        out: Tensor,
    ) -> Tensor:
        total = _aten.empty([], dtype=self.dtype, device=self.device)
        forward(self, target, weight, reduction, ignore_index, output=out, total_weight=total)
        return out

    return kernel


nll_loss_out = _of_classes(_aten.nll_loss_forward.output)
nll_loss2d_out = _of_classes(_aten.nll_loss2d_forward.output)
