"""Shape functions of the CTC loss.

`log_probs` has time, batch and labels. Targets are rows of one length, or all in one vector; how
much of them counts is in `target_lengths`. The losses come with the table of the forward pass:
batch, time, and the targets with a blank before, between and behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["ctc_loss", "ctc_loss_backward"]


def _check_lengths(name: str, lengths: Sequence[int], batch: int) -> None:
    if len(lengths) != batch:
        raise refused(f"{name} must be of size batch_size {batch}, got {len(lengths)}")


def _longest(targets: Tensor, lengths: Sequence[int], batch: int) -> int:
    for length in lengths:
        if length < 0:
            raise refused(f"expected target_lengths of 0 or more, got {length}")
    longest = max(lengths, default=0)
    if targets.ndim == 1:
        if targets.shape[0] != sum(lengths):
            raise refused(f"expected {sum(lengths)} targets, got {targets.shape[0]}")
    elif targets.shape[0] != batch or targets.shape[1] < longest:
        raise refused(
            f"expected targets of shape [{batch}, {longest}] at least, got {list(targets.shape)}"
        )
    return longest


def _check(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
) -> int:
    """The longest target's length."""
    if log_probs.numel() == 0 and rules.is_eager(log_probs):
        raise refused(f"expected log_probs with elements, got {list(log_probs.shape)}")
    if targets.dtype not in (dtypes.int64, dtypes.int32):
        raise refused(f"expected int64 targets, got {targets.dtype}")
    if log_probs.ndim != 3:
        raise refused(f"expected log_probs to have 3 dimensions, got {list(log_probs.shape)}")
    if not 1 <= targets.ndim <= 2:
        raise refused(f"expected targets to have 1 or 2 dimensions, got {list(targets.shape)}")
    steps, batch, labels = log_probs.shape
    if not 0 <= blank < labels:
        raise refused(f"blank must be in label range, one of {labels}, got {blank}")
    _check_lengths("input_lengths", input_lengths, batch)
    _check_lengths("target_lengths", target_lengths, batch)
    longest = _longest(targets, target_lengths, batch)
    for length in input_lengths:
        if not 0 <= length <= steps:
            bound = f"at most {steps}" if length > steps else "at least 0"
            raise refused(f"Expected input_lengths to have value {bound}, but got value {length}")
    return longest


def _sizes(log_probs: Tensor, longest: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those of the losses and of the table."""
    steps, batch, _ = log_probs.shape
    return (batch,), (batch, steps, 2 * longest + 1)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> Shaped:
    """A loss for each of the batch, and the table; hands over the longest target's length."""
    longest = _check(log_probs, targets, input_lengths, target_lengths, blank)
    losses, table = _sizes(log_probs, longest)
    kind = log_probs.dtype
    return Shaped((TensorSpec(losses, kind), TensorSpec(table, kind)), longest)


def ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Shaped:
    """The sizes of `log_probs`."""
    longest = _check(log_probs, targets, input_lengths, target_lengths, blank)
    losses, table = _sizes(log_probs, longest)
    for name, given, sizes in (
        ("neg_log_likelihood", neg_log_likelihood, losses),
        ("log_alpha", log_alpha, table),
        ("grad", grad, losses),
    ):
        if tuple(given.shape) != sizes:
            raise refused(f"expected {name} of shape {list(sizes)}, got {list(given.shape)}")
    return Shaped(TensorSpec(log_probs.shape, log_probs.dtype), longest)
