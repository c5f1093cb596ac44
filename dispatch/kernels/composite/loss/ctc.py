"""The CTC loss with its reduction, and forms that take lengths as tensors.

Called for tensors of all kinds. `reduction`: 0 none, 1 the mean of losses over their targets'
lengths, 2 the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dispatch._C import dtypes
from dispatch._C.arrays import from_numpy
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "ctc_loss",
    "ctc_loss_backward_of_tensors",
    "ctc_loss_of_tensors",
    "ctc_loss_tensor",
]

_aten = ops.aten
_MEAN, _SUM = 1, 2


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    """Of a batch, or, without its dimension, of one."""
    losses = _aten._ctc_loss(
        *_in_batches(log_probs, targets), input_lengths, target_lengths, blank, zero_infinity
    )[0]
    lengths = from_numpy(np.array(target_lengths, np.int64))
    lengths = _aten.to.device(lengths, losses.device, losses.dtype)
    return _reduced(losses, lengths, reduction, zero_infinity, log_probs.ndim != 3)


def _in_batches(log_probs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    if log_probs.ndim != 3:
        log_probs = _aten.unsqueeze(log_probs, 1)
    if targets.dtype is not dtypes.int64 or targets.device != log_probs.device:
        targets = _aten.to.device(targets, log_probs.device, dtypes.int64)
    return log_probs, targets


def _reduced(
    losses: Tensor, lengths: Tensor, reduction: int, zero_infinity: bool, alone: bool
) -> Tensor:
    """The losses of a batch; their mean is the one of each loss by its target's length."""
    if zero_infinity:
        zero = _aten.zeros([], dtype=losses.dtype, layout=losses.layout, device=losses.device)
        losses = _aten.where.self(_aten.eq.Scalar(losses, math.inf), zero, losses)
    if reduction == _MEAN:
        return _aten.mean(_aten.div.Tensor(losses, _aten.clamp_min(lengths, 1)))
    if reduction == _SUM:
        return _aten.sum(losses)
    return _aten.squeeze.dim(losses, 0) if alone else losses


def ctc_loss_tensor(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    """The same with lengths in tensors, which `_ctc_loss` reads."""
    losses = _aten._ctc_loss.Tensor(
        *_in_batches(log_probs, targets), input_lengths, target_lengths, blank, zero_infinity
    )[0]
    if reduction == _MEAN and target_lengths.device != losses.device:
        target_lengths = _aten.to.device(target_lengths, losses.device, target_lengths.dtype)
    return _reduced(losses, target_lengths, reduction, zero_infinity, log_probs.ndim != 3)


def _numbers(name: str, lengths: Tensor) -> list[int]:
    if lengths.dtype.is_floating_point or lengths.dtype.is_complex or lengths.dtype is dtypes.bool:
        raise refused(f"expected integral {name}, got {lengths.dtype}")
    return [int(n) for n in _aten.reshape(lengths, [-1]).tolist()]


def ctc_loss_of_tensors(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """`_ctc_loss` with lengths in tensors."""
    numbers = (_numbers("input_lengths", input_lengths), _numbers("target_lengths", target_lengths))
    result: tuple[Tensor, Tensor] = _aten._ctc_loss(
        log_probs, targets, *numbers, blank, zero_infinity
    )
    return result


def ctc_loss_backward_of_tensors(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool = False,
) -> Tensor:
    """Its backward pass."""
    numbers = (_numbers("input_lengths", input_lengths), _numbers("target_lengths", target_lengths))
    result: Tensor = _aten._ctc_loss_backward(
        grad, log_probs, targets, *numbers, neg_log_likelihood, log_alpha, blank, zero_infinity
    )
    return result
