"""What stands for layer, group and batch norm on a backend that has `native_batch_norm` alone.

The kernels for every backend call these for tensors that are not on the CPU. Source of the
semantics: PyTorch's CompositeExplicitAutograd kernels (`math_native_layer_norm`,
`math_group_norm`, `_batch_norm_legit_no_training`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["batch_norm_no_training", "native_group_norm", "native_layer_norm"]

Three = tuple[Tensor, Tensor, Tensor]
_aten: Any = ops.aten


def _scaled(out: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is not None and bias is not None:
        return _aten.addcmul(bias, out, weight)
    if weight is not None:
        return _aten.mul(out, weight)
    return out if bias is None else _aten.add(out, bias)


def _rows(rows: Tensor, eps: float) -> Three:
    """Each row normalised, as the one image of a batch whose channels the rows are."""
    return _aten.native_batch_norm(rows, None, None, None, None, True, 0.0, eps)


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Three:
    """Over the last dimensions, with the mean and the reciprocal deviation of each row."""
    kept = input.dim() - len(normalized_shape)
    outer = list(input.shape[:kept])
    rows = _aten.reshape(input, [1, prod(outer), prod(normalized_shape)])
    out, mean, rstd = _rows(rows, eps)
    shape = outer + [1] * len(normalized_shape)
    return (
        _scaled(_aten.view(out, input.shape), weight, bias),
        _aten.view(mean, shape),
        _aten.view(rstd, shape),
    )


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Three:
    """Over the channels of a group, with the mean and the reciprocal deviation of each group."""
    rows = _aten.reshape(input, [1, N * group, C // group * HxW])
    out, mean, rstd = _rows(rows, eps)
    channels = [1, C] + [1] * (input.dim() - 2)
    scale, shift = (None if t is None else _aten.view(t, channels) for t in (weight, bias))
    return (
        _scaled(_aten.view(out, input.shape), scale, shift),
        _aten.view(mean, [N, group]),
        _aten.view(rstd, [N, group]),
    )


def batch_norm_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> Three:
    """`_native_batch_norm_legit` that leaves the running statistics alone."""
    return _aten._native_batch_norm_legit(
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )
