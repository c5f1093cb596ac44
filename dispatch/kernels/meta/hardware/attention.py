"""Metadata of attention by the libraries of devices."""

from __future__ import annotations

from dispatch._C.dtypes import float32, int64
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["cudnn_attention", "cudnn_attention_backward", "math_for_mps"]

_empty = ops.aten.empty.memory_format


def cudnn_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor | int | None, ...]:
    """The output in the layout of the query; lengths are numbers among the results."""
    batch, heads, length = query.size(0), query.size(1), query.size(2)
    sizes = (batch, heads, length, value.size(-1))
    strides = _strides_like(query, sizes)
    output = ops.aten.empty_strided(sizes, strides, dtype=query.dtype, device=query.device)
    log_sum = _empty([batch, heads, length, 1], dtype=float32, device=query.device)
    seed, offset = (_empty([], dtype=int64, device="meta") for _ in range(2))
    return output, log_sum, None, None, length, key.size(2), seed, offset, None


def _strides_like(query: Tensor, sizes: tuple[int, ...]) -> tuple[int, ...]:
    if tuple(query.shape) == sizes:
        return rules.dense_like_strides(query)
    order = sorted(range(4), key=lambda d: query.stride(d), reverse=True)
    strides, step = [0] * 4, 1
    for d in reversed(order):
        strides[d] = step
        step *= sizes[d]
    return tuple(strides)


def cudnn_attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    philox_seed: Tensor,
    philox_offset: Tensor,
    attn_bias: Tensor,
    cum_seq_q: Tensor,
    cum_seq_k: Tensor,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> tuple[TensorSpec, ...]:
    """As query, key and value."""
    tensors = (query, key, value)
    return tuple(TensorSpec(t.shape, t.dtype, rules.dense_like_strides(t)) for t in tensors)


def math_for_mps(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Tensor | None,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[TensorSpec, TensorSpec]:
    """The output, and the weight of each key for each query."""
    rows = query.shape[:-1]
    return (
        TensorSpec((*rows, value.shape[-1]), query.dtype),
        TensorSpec((*rows, value.shape[-2]), query.dtype),
    )
