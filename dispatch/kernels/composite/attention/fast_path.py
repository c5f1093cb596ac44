"""A transformer's layers in one call: attention of several heads, its projections, what is around.

CPU kernels that `nn.MultiheadAttention` and `nn.TransformerEncoderLayer` call while nothing
requires grad; written with operators, as PyTorch's are. Source of the semantics:
native/transformers.
"""

from __future__ import annotations

import math

from dispatch._C.dtypes import bool as boolean, int32, uint8
from dispatch._C.errors import refused, unserved
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_convert_weight_to_int4pack_for_cpu",
    "_native_multi_head_attention",
    "_transform_bias_rescale_qkv",
    "_transformer_encoder_layer_fwd",
]

_add = ops.aten.add.Tensor
_addmm = ops.aten.addmm.default
_bitwise_or = ops.aten.bitwise_or.Tensor
_bmm = ops.aten.bmm.default
_cat = ops.aten.cat.default
_clone = ops.aten.clone.default
_copy_ = ops.aten.copy_.default
_div_ = ops.aten.div_.Scalar
_empty = ops.aten.empty.memory_format
_gelu = ops.aten.gelu.default
_layer_norm = ops.aten.layer_norm.default
_lshift = ops.aten.bitwise_left_shift.Tensor_Scalar
_masked_fill = ops.aten.masked_fill.Scalar
_mm = ops.aten.mm.default
_mul = ops.aten.mul.Scalar
_narrow = ops.aten.narrow.default
_new_empty = ops.aten.new_empty.default
_permute = ops.aten.permute.default
_relu = ops.aten.relu.default
_reshape = ops.aten.reshape.default
_select = ops.aten.select.int
_slice = ops.aten.slice.Tensor
_softmax = ops.aten.softmax.int
_sum = ops.aten.sum.dim_IntList
_t = ops.aten.t.default
_to = ops.aten.to.dtype
_transform = ops.aten._transform_bias_rescale_qkv.default
_transpose = ops.aten.transpose.int
_view = ops.aten.view.default
_attend = ops.aten._native_multi_head_attention.default

# Rows of a weight in four bits that PyTorch lays out together.
ROWS = 64


def _transform_bias_rescale_qkv(
    qkv: Tensor, qkv_bias: Tensor, num_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, length, 3 * width) as three (batch, heads, length, width / heads), queries scaled."""
    if not qkv.dtype.is_floating_point:
        raise unserved(qkv.dtype)
    if qkv.ndim != 3 or qkv.shape[2] % 3 or qkv.shape[2] // 3 % num_heads:
        raise refused(
            f"expected qkv (batch, length, 3 * heads * width) for {num_heads} heads, got "
            f"{list(qkv.shape)}",
            IndexError if qkv.ndim < 3 else RuntimeError,
        )
    batch, length, columns = qkv.shape
    width = columns // 3 // num_heads
    made = _empty([3, batch, num_heads, length, width], dtype=qkv.dtype, device=qkv.device)
    whole = _view(_add(qkv, qkv_bias), [batch, length, 3, num_heads, width])
    _copy_(made, _permute(whole, [2, 0, 3, 1, 4]))
    query = _select(made, 0, 0)
    _copy_(query, _mul(query, 1 / rules.root(width)))
    return query, _select(made, 0, 1), _select(made, 0, 2)


def check_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
) -> None:
    if query.ndim != 3 or query.shape[2] != embed_dim:
        raise refused(
            f"expected query (batch, length, {embed_dim}), got {list(query.shape)}"
        )
    if not query.shape == key.shape == value.shape:
        raise refused(
            "expected query, key and value of one shape, got "
            f"{list(query.shape)}, {list(key.shape)} and {list(value.shape)}"
        )
    if embed_dim % num_head:
        raise refused(f"embed_dim {embed_dim} is not a multiple of {num_head} heads")
    if tuple(qkv_weight.shape) != (3 * embed_dim, embed_dim):
        raise refused(
            f"expected qkv_weight {[3 * embed_dim, embed_dim]}, got {list(qkv_weight.shape)}"
        )
    if tuple(qkv_bias.shape) != (3 * embed_dim,):
        raise refused(f"expected qkv_bias {[3 * embed_dim]}, got {list(qkv_bias.shape)}")


def projected(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, width: int
) -> Tensor:
    """Queries, keys and values side by side: (batch, length, 3 * width)."""
    batch, length, _ = query.shape
    made = _empty([batch, length, 3 * width], dtype=query.dtype, device=query.device)
    for i, given in enumerate((query, key, value)):
        rows = _reshape(given, [batch * length, width])
        product = _mm(rows, _t(_narrow(weight, 0, i * width, width)))
        part = _narrow(made, 2, i * width, width)
        _copy_(part, _view(product, [batch, length, width]))
    return made


def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    check_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias)
    if query.numel() == 0:
        return _new_empty(query, query.shape), _new_empty(query, [0])
    if mask is not None and mask_type is None:
        raise refused("a mask needs a mask_type")
    batch, length, _ = query.shape
    width, lines = embed_dim // num_head, batch * num_head
    qkv = projected(query, key, value, qkv_weight, embed_dim)
    q, k, v = _transform(qkv, qkv_bias, num_head)
    flat = [lines, length, width]
    scores = _bmm(_view(q, flat), _transpose(_view(k, flat), 1, 2))
    weights = _view(scores, [batch, num_head, length, length])
    weights = weights_of(weights, mask, mask_type)
    context = _bmm(_view(weights, [lines, length, length]), _view(v, flat))
    context = _transpose(_view(context, [batch, num_head, length, width]), 1, 2)
    rows = _reshape(context, [batch * length, embed_dim])
    out = _addmm(proj_bias, rows, _t(proj_weight))
    made = _view(out, [batch, length, proj_weight.shape[0]])
    if not need_weights:
        return made, None
    if average_attn_weights:
        weights = _div_(_sum(weights, [1]), num_head)
    return made, weights


def weights_of(scores: Tensor, mask: Tensor | None, mask_type: int | None) -> Tensor:
    """`mask_type` 0: (length, keys); 1: (batch, keys); 2: for all scores."""
    if mask is None:
        return _softmax(scores, -1)
    if mask_type == 1:
        mask = _view(mask, [mask.shape[0], 1, 1, mask.shape[1]])
    elif mask_type == 2 and mask.shape != scores.shape:
        raise refused(f"expected a mask {list(scores.shape)}, got {list(mask.shape)}")
    return _softmax(_masked_fill(scores, _to(mask, boolean), -math.inf), -1)


def _transformer_encoder_layer_fwd(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """Attention, what it is added to, and a network of two layers after it."""
    if src.numel() == 0:
        return _clone(src)

    def normed(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return _layer_norm(x, [embed_dim], weight, bias, eps, True)

    first, second = (norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2)
    x = normed(src, *first) if norm_first else src
    weights = qkv_weight, qkv_bias, proj_weight, proj_bias
    heads = embed_dim, num_heads
    x = _attend(x, x, x, *heads, *weights, mask, False, True, mask_type)[0]
    x = _add(x, src)
    if not norm_first:
        x = normed(x, *first)
    kept = x
    if norm_first:
        x = normed(x, *second)
    batch, length, width = x.shape
    rows = _addmm(ffn_bias_1, _reshape(x, [batch * length, width]), _t(ffn_weight_1))
    rows = _gelu(rows) if use_gelu else _relu(rows)
    rows = _addmm(ffn_bias_2, rows, _t(ffn_weight_2))
    x = _add(_view(rows, [batch, length, ffn_weight_2.shape[0]]), kept)
    return x if norm_first else normed(x, *second)


# ---- weights in four bits ------------------------------------------------------------------------


def nibbles(low: Tensor, high: Tensor) -> Tensor:
    """Two numbers below 16 in one byte, (rows, columns) as (columns, rows)."""
    return _t(_to(_bitwise_or(low, _lshift(high, 4)), uint8))


def _convert_weight_to_int4pack_for_cpu(self: Tensor, innerKTiles: int) -> Tensor:
    """Two numbers below 16 in a byte: 64 rows together as AVX-512 reads them, others in pairs."""
    if self.ndim != 2 or self.dtype is not int32:
        raise refused(
            f"expected self to be a matrix of int32, got {self.dtype} and {list(self.shape)}"
        )
    n, k = self.shape
    if n % 16 or k % 2:
        raise refused(f"expected a multiple of 16 rows and of 2 columns, got {list(self.shape)}")
    made = _empty([n * k // 2], dtype=uint8, device=self.device)
    for first in range(0, n, ROWS):
        count = min(ROWS, n - first)
        block = _narrow(self, 0, first, count)
        if count == ROWS:
            parts = [_narrow(block, 0, i * 16, 16) for i in range(4)]
            columns = _cat(
                [nibbles(parts[0], parts[2]), nibbles(parts[1], parts[3])], 1
            )
        else:
            columns = nibbles(_slice(block, 0, 0, count, 2), _slice(block, 0, 1, count, 2))
        target = _narrow(made, 0, first * k // 2, count * k // 2)
        _copy_(_view(target, [k, count // 2]), columns)
    return _view(made, [n, k // 2])
