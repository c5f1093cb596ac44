"""Metadata of the attention kernels of devices: flash and memory-efficient, forward and backward.

Whole Meta kernels, as results hold numbers, None and tensors of the meta device (the state of
dropout, which PyTorch leaves there while nothing is captured).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.dtypes import bfloat16, float8_e4m3fn, float32, int64, uint64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.attention.fused import (
    LOGSUMEXP_BLOCK,
    _scaled_dot_product_flash_attention,
    debug_columns,
)

__all__ = [
    "_efficient_attention_backward",
    "_efficient_attention_forward",
    "_fill_mem_eff_dropout_mask_",
    "_flash_attention_backward",
    "_flash_attention_forward",
    "_flash_attention_forward_no_dropout_inplace",
    "_flash_attention_forward_quantized",
    "_scaled_dot_product_efficient_attention_backward",
    "_scaled_dot_product_flash_attention_backward",
    "_scaled_dot_product_flash_attention_quantized",
    "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_dot_product_fused_attention_overrideable_backward",
]

# Columns of a bias's gradient come in blocks of this many.
BIAS_BLOCK = 16

_empty = ops.aten.empty.memory_format
_empty_like = ops.aten.empty_like.default
_empty_permuted = ops.aten.empty_permuted.default
_empty_strided = ops.aten.empty_strided.default
_narrow = ops.aten.narrow.default
_select = ops.aten.select.int
_to = ops.aten.to.dtype


def state() -> tuple[Tensor, Tensor]:
    """Seed and offset of the memory-efficient kernels."""
    return _empty([], dtype=int64, device="meta"), _empty([], dtype=int64, device="meta")


def like_all(*tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(_empty_like(t) for t in tensors)


def bias_gradient(bias: Tensor) -> Tensor:
    columns = bias.shape[-1]
    room = -(-columns // BIAS_BLOCK) * BIAS_BLOCK
    whole = _empty([*bias.shape[:-1], room], dtype=bias.dtype, device=bias.device)
    return _narrow(whole, -1, 0, columns)


# ---- flash -------------------------------------------------------------------------------------


def _scaled_dot_product_flash_attention_quantized(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    q_descale: Tensor | None,
    k_descale: Tensor | None,
    v_descale: Tensor | None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Eight bits give a result in bfloat16."""
    if query.dtype is float8_e4m3fn:
        query = _to(query, bfloat16)
    return _scaled_dot_product_flash_attention(
        query, key, value, dropout_p, is_causal, return_debug_mask, scale=scale
    )


def _scaled_dot_product_flash_attention_backward(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, *more: Any, **options: Any
) -> tuple[Tensor, ...]:
    return like_all(query, key, value)


def _flash_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    **options: Any,
) -> tuple[Tensor, ...]:
    """Dense (batch, length, heads, width), or sequences after one another (all, heads, width)."""
    heads, width = query.size(-2), query.size(-1)
    if cum_seq_q is None:
        batch, length = query.size(0), query.size(1)
        sizes = [batch, heads, length]
    else:
        batch, length = cum_seq_q.numel() - 1, max_q
        sizes = [heads, query.size(0)]
    keys = key.size(1) if cum_seq_k is None else max_k
    mask = [0]
    if return_debug_mask:
        mask = [batch, heads, length, debug_columns(length, keys, width)]
    return (
        _empty_like(query),
        _empty(sizes, dtype=float32, device=query.device),
        _empty([2], dtype=uint64, device="meta"),
        _empty([], dtype=uint64, device="meta"),
        _empty(mask, dtype=query.dtype, device=query.device),
    )


def _flash_attention_forward_quantized(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    q_descale: Tensor | None,
    k_descale: Tensor | None,
    v_descale: Tensor | None,
    **options: Any,
) -> tuple[Tensor, ...]:
    if query.dtype is float8_e4m3fn:
        query = _to(query, bfloat16)
    lengths = cum_seq_q, cum_seq_k, max_q, max_k
    return _flash_attention_forward(
        query, key, value, *lengths, dropout_p, is_causal, return_debug_mask
    )


def _flash_attention_forward_no_dropout_inplace(
    out: Tensor, query: Tensor, key: Tensor, value: Tensor, *more: Any, **options: Any
) -> Tensor:
    """The logarithms of the sums alone."""
    return _flash_attention_forward(query, key, value, *more)[1]


def _flash_attention_backward(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, *more: Any, **options: Any
) -> tuple[Tensor, ...]:
    return like_all(query, key, value)


# ---- memory-efficient --------------------------------------------------------------------------


def _scaled_dot_product_efficient_attention_backward(
    grad_out_: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    out: Tensor,
    logsumexp: Tensor,
    philox_seed: Tensor,
    philox_offset: Tensor,
    dropout_p: float,
    grad_input_mask: Sequence[bool],
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """Gradients with the heads beside the widths in memory."""
    sizes = query.shape[:2]
    made: list[Tensor | None] = []
    for t, rows, width in (
        (query, query.size(2), query.size(3)),
        (key, key.size(2), query.size(3)),
        (value, key.size(2), value.size(3)),
    ):
        order = [0, 2, 1, 3]
        grad = _empty_permuted([*sizes, rows, width], order, dtype=t.dtype, device=t.device)
        made.append(grad)
    asked = attn_bias is not None and grad_input_mask[3]
    made.append(bias_gradient(attn_bias) if attn_bias is not None and asked else None)
    return tuple(made)


def _efficient_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    cu_seqlens_q: Tensor | None,
    cu_seqlens_k: Tensor | None,
    max_seqlen_q: int | None,
    max_seqlen_k: int | None,
    dropout_p: float,
    custom_mask_type: int,
    compute_log_sumexp: bool = False,
    **options: Any,
) -> tuple[Any, ...]:
    batch, length, heads = query.size(0), query.size(1), query.size(-2)
    out = _empty(
        [batch, length, heads, value.size(-1)], dtype=query.dtype, device=query.device
    )
    if cu_seqlens_q is not None:
        if max_seqlen_q is None:
            raise refused("cu_seqlens_q needs max_seqlen_q", AssertionError)
        batch, length = cu_seqlens_q.size(0) - 1, max_seqlen_q
    rows = -(-length // LOGSUMEXP_BLOCK) * LOGSUMEXP_BLOCK if compute_log_sumexp else 0
    total = _empty([batch, heads, rows], dtype=float32, device=query.device)
    keys = key.size(1) if max_seqlen_k is None else max_seqlen_k
    return out, total, *state(), length, keys


def _efficient_attention_backward(
    grad_out_: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    *more: Any,
    shared_storage_dqdkdv: bool = False,
    **options: Any,
) -> tuple[Tensor | None, ...]:
    grads: tuple[Tensor, ...]
    if shared_storage_dqdkdv:
        if query.shape[1] != key.shape[1] or query.shape[3] != key.shape[3]:
            raise refused(
                "gradients in one storage need query and key of one shape, got "
                f"{list(query.shape)} and {list(key.shape)}"
            )
        sizes = [*query.shape[:-2], 3, *query.shape[-2:]]
        chunk = _empty(sizes, dtype=query.dtype, device=query.device)
        grads = tuple(_select(chunk, -3, i) for i in range(3))
    else:
        grads = like_all(query, key, value)
    of_bias = bias_gradient(bias) if bias is not None else _empty([], device=query.device)
    return *grads, of_bias


def _fill_mem_eff_dropout_mask_(
    self: Tensor, dropout_p: float, seed: int, offset: int
) -> Tensor:
    return self


# ---- of backends -------------------------------------------------------------------------------


def _scaled_dot_product_fused_attention_overrideable(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    if query.ndim not in (3, 4):
        raise refused(f"expected query to have 3 or 4 dimensions, got {list(query.shape)}")
    batch = query.size(0) if query.ndim == 4 else 1
    heads, length = query.size(-3), query.size(-2)
    total = _empty([batch, heads, length], dtype=float32, device=query.device)
    out = in_layout_of(query, [*query.shape[:-1], value.size(-1)])
    return out, total, None, None, length, key.size(-2), *state(), None


def in_layout_of(query: Tensor, sizes: list[int]) -> Tensor:
    """Other sizes, with the dimensions in query's order in memory."""
    if list(query.shape) == sizes:
        return _empty_like(query)
    steps = query.stride()
    strides, step = [0] * len(sizes), 1
    outermost_first = sorted(range(len(sizes)), key=lambda d: steps[d], reverse=True)
    for d in outermost_first[::-1]:
        strides[d] = step
        step *= sizes[d]
    return _empty_strided(sizes, strides, dtype=query.dtype, device=query.device)


def _scaled_dot_product_fused_attention_overrideable_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    *more: Any,
    **options: Any,
) -> tuple[Tensor | None, ...]:
    of_bias = None if attn_bias is None else _empty_like(attn_bias)
    return *like_all(query, key, value), of_bias
