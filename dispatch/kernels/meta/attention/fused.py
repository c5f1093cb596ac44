"""Shapes of the fused attention kernels: output, logsumexp and the state of dropout.

Called by the structured kernels and, for the one with numbers among its results, as the Meta
kernel itself. The CPU kernel writes its output in the layout of the query (`empty_like`) and the
logsumexp with heads innermost.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import float32, float64, int64, uint64
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.rules import empty_like_strides

__all__ = [
    "_scaled_dot_product_flash_attention",
    "efficient_attention",
    "flash_attention_for_cpu",
    "flash_attention_for_cpu_backward",
]

# Rows of the logsumexp come in blocks of this many on cuda.
LOGSUMEXP_BLOCK = 32

_empty = ops.aten.empty.memory_format
_empty_like = ops.aten.empty_like.default


def flash_attention_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[TensorSpec, TensorSpec]:
    batch, heads, length = query.size(0), query.size(1), query.size(2)
    total = float64 if query.dtype is float64 else float32
    strides = (length * heads, 1, heads)
    return (
        TensorSpec(query.shape, query.dtype, empty_like_strides(query)),
        TensorSpec((batch, heads, length), total, strides),
    )


def flash_attention_for_cpu_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[TensorSpec, ...]:
    """Gradients with the heads beside the widths in memory."""
    specs = []
    for t in (query, key, value):
        _, heads, length, width = (t.size(d) for d in range(4))
        strides = (length * heads * width, width, heads * width, 1)
        specs.append(TensorSpec(t.shape, t.dtype, strides))
    return tuple(specs)


def efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> tuple[TensorSpec, ...]:
    batch, heads, length = query.size(0), query.size(1), query.size(2)
    width = value.size(-1)
    rows = -(-length // LOGSUMEXP_BLOCK) * LOGSUMEXP_BLOCK if compute_log_sumexp else 0
    strides = (length * heads * width, width, heads * width, 1)
    return (
        TensorSpec((batch, heads, length, width), query.dtype, strides),
        TensorSpec((batch, heads, rows), float32),
        TensorSpec((), int64),
        TensorSpec((), int64),
    )


def debug_columns(length: int, keys: int, width: int) -> int:
    """Columns of the dropout mask that `return_debug_mask` asks for."""
    if keys <= 128:
        return 128
    if keys <= 256:
        return 256
    return -(-length // (128 if width > 64 else 256))


def _scaled_dot_product_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    batch, heads, length, width = (query.size(d) for d in range(4))
    keys = key.size(2)
    mask = [0]
    if return_debug_mask:
        mask = [batch, heads, length, debug_columns(length, keys, width)]
    return (
        _empty_like(query),
        _empty([batch, heads, length], dtype=float32, device=query.device),
        None,
        None,
        length,
        keys,
        _empty([2], dtype=uint64, device="meta"),
        _empty([], dtype=uint64, device="meta"),
        _empty(mask, dtype=query.dtype, device=query.device),
    )
