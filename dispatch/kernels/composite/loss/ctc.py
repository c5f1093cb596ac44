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
from dispatch.kernels.meta import rules

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
    alone = log_probs.ndim != 3
    if alone:
        log_probs = _aten.unsqueeze(log_probs, 1)
    if targets.dtype is not dtypes.int64 or targets.device != log_probs.device:
        targets = _aten.to.device(targets, log_probs.device, dtypes.int64)
    losses = _aten._ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
    )[0]
    if zero_infinity:
        zero = _aten.zeros([], dtype=losses.dtype, device=losses.device)
        losses = _aten.where.self(_aten.eq.Scalar(losses, math.inf), zero, losses)
    if reduction == _MEAN:
        return _aten.mean(_aten.div.Tensor(losses, _divisors(target_lengths, losses)))
    if reduction == _SUM:
        return _aten.sum(losses)
    return _aten.squeeze.dim(losses, 0) if alone else losses


def _divisors(lengths: Sequence[int], losses: Tensor) -> Tensor:
    divisors = from_numpy(np.array([max(length, 1) for length in lengths], np.int64))
    result: Tensor = _aten.to.device(divisors, losses.device, losses.dtype)
    return result


def ctc_loss_tensor(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    """The same with lengths in tensors, whose values are read where there are any."""
    if not rules.is_eager(log_probs):
        return _aten._ctc_loss.Tensor(
            log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
        )[0]
    numbers = (_numbers("input_lengths", input_lengths), _numbers("target_lengths", target_lengths))
    result: Tensor = _aten.ctc_loss.IntList(
        log_probs, targets, *numbers, blank, reduction, zero_infinity
    )
    return result


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
