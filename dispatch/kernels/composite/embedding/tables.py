"""Gradients of look-ups in tables, written with operators."""

from __future__ import annotations

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["embedding_backward"]

_aten = ops.aten


def embedding_backward(
    grad: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    """The gradient of the table, dense or sparse."""
    call = _aten.embedding_sparse_backward if sparse else _aten.embedding_dense_backward
    result: Tensor = call(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
    return result
