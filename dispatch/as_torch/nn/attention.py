"""`torch.nn.functional.multi_head_attention_forward`: attention in several subspaces.

Sequences come first (L, N, E); the operators and their order are PyTorch's: one product for the
three projections when all inputs are one tensor, two when key and value are, the operator
`scaled_dot_product_attention` when nobody needs the weights.
"""

import math
import warnings
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C import _nn
from dispatch.as_torch.nn.asking import asks
from dispatch.as_torch.nn.layers import dropout, softmax
from dispatch.as_torch.nn.resampling import pad

__all__ = ["multi_head_attention_forward"]


def _need(condition: bool, text: str) -> None:
    if not condition:
        raise AssertionError(f"multi_head_attention_forward: {text}")


def _is_batched(query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any) -> bool:
    """Whether there is a batch dimension; AssertionError for inputs of unlike dimensions."""
    dims = query.dim()
    _need(
        dims in (2, 3),
        f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor",
    )
    for name, tensor, wanted in (
        ("key", key, (dims,)), ("value", value, (dims,)), ("attn_mask", mask, (2, 3)),
        ("key_padding_mask", padding, (dims - 1,)),
    ):  # fmt: skip
        if tensor is not None:
            found = tensor.dim()
            said = " or ".join(map(str, wanted))
            _need(
                found in wanted,
                f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`, expected "
                f"`{name}` to be {said}-D but found {found}-D",
            )
    return dims == 3


def _as_addend(mask: Any, name: str, like: Tensor) -> Any:
    """A mask to be added: minus infinity where a boolean one is true."""
    if mask is None or dispatch.is_floating_point(mask):
        return mask
    _need(mask.dtype == dispatch.bool, f"only bool and floating types of {name} are supported")
    zeros = dispatch.zeros_like(mask, dtype=like.dtype)
    return zeros.masked_fill_(mask, float("-inf"))


def _as_addends(padding: Any, mask: Any, like: Tensor) -> tuple[Any, Any]:
    """`padding` and `mask` to be added to scores; a warning when they are of two types."""
    if padding is not None and mask is not None and mask.dtype != padding.dtype:
        warnings.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead.",
            stacklevel=3,
        )
    padding = _as_addend(padding, "key_padding_mask", like)
    return padding, _as_addend(mask, "attn_mask", like)


def _rows_apart(packed: Tensor, count: int, width: int) -> list[Tensor]:
    """(..., count * width) as `count` tensors (..., width)."""
    apart = packed.unflatten(-1, (count, width)).unsqueeze(0)
    apart = apart.transpose(0, -2).squeeze(-2).contiguous()
    return [apart[i] for i in range(count)]


def _projected(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """The three inputs by the rows of one weight, in as few products as they allow."""
    width = query.size(-1)
    if key is not value:
        rows = weight.chunk(3)
        biases = (None, None, None) if bias is None else bias.chunk(3)
        q, k, v = map(_nn.linear, (query, key, value), rows, biases)
        return q, k, v
    if query is key:
        q, k, v = _rows_apart(_nn.linear(query, weight, bias), 3, width)
        return q, k, v
    own, shared = weight.split([width, 2 * width])
    own_bias, shared_bias = (None, None) if bias is None else bias.split([width, 2 * width])
    q = _nn.linear(query, own, own_bias)
    k, v = _rows_apart(_nn.linear(key, shared, shared_bias), 2, width)
    return q, k, v


def _heads_first(given: Any, static: Any, heads: int, width: int, name: str) -> Tensor:
    """(L, N, E) as (N * heads, L, E / heads), or the one that is given instead."""
    if static is None:
        turned: Tensor = given.view(given.shape[0], heads, width).transpose(0, 1)
        return turned
    _need(static.size(0) == heads, f"expected {name}.size(0) {heads}, got {static.size(0)}")
    _need(static.size(2) == width, f"expected {name}.size(2) {width}, got {static.size(2)}")
    return static


def _checked_mask(mask: Any, heads: int, rows: int, columns: int) -> Any:
    """The mask with three dimensions; RuntimeError for sizes that are not those of the scores."""
    if mask is None:
        return None
    wanted = (rows, columns) if mask.dim() == 2 else (heads, rows, columns)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


@asks
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """(output, weights) of attention: (L, N, E) and (N, L, S), or (N, heads, L, S) without
    `average_attn_weights`; without `need_weights` None.

    Masks are boolean (True: not looked at) or added to the scores. Raises: AssertionError for
    sizes and arguments that do not fit each other, RuntimeError for a mask of other sizes, or
    `is_causal` without a mask.
    """
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "multi_head_attention_forward: Need attn_mask if specifying the is_causal hint: see "
            "Transformer.generate_square_subsequent_mask"
        )
    is_causal = is_causal and key_padding_mask is None
    hinted = is_causal and not need_weights
    padding, mask = _as_addends(key_padding_mask, None if hinted else attn_mask, query)
    wanted = embed_dim_to_check
    _need(width == wanted, f"expected embedding dimension {wanted}, got {width}")
    head = width // num_heads
    _need(head * num_heads == width, f"embed_dim {width} not divisible by num_heads {num_heads}")
    alike = key.shape[:2] == value.shape[:2]
    _need(
        alike and (use_separate_proj_weight or key.shape == value.shape),
        f"key shape {key.shape} does not match value shape {value.shape}",
    )
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        _need(all(w is not None for w in weights), "expected q_, k_ and v_proj_weight")
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = map(_nn.linear, (query, key, value), weights, biases)
    else:
        _need(in_proj_weight is not None, "expected in_proj_weight")
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)  # type: ignore[arg-type]
    rows = batch * num_heads
    mask = _checked_mask(mask, rows, length, key.shape[0])
    _need((bias_k is None) == (bias_v is None), "expected both of bias_k and bias_v, or none")
    if bias_k is not None and bias_v is not None:
        _need(static_k is None and static_v is None, "biases cannot be added to static ones")
        k = dispatch.cat([k, bias_k.repeat(1, batch, 1)])
        v = dispatch.cat([v, bias_v.repeat(1, batch, 1)])
        mask, padding = (None if m is None else pad(m, (0, 1)) for m in (mask, padding))
    q = q.view(length, rows, head).transpose(0, 1)
    k = _heads_first(k, static_k, rows, head, "static_k")
    v = _heads_first(v, static_v, rows, head, "static_v")
    if add_zero_attn:
        zeros = dispatch.zeros((rows, 1, head), dtype=k.dtype, device=k.device)
        k, v = dispatch.cat([k, zeros], dim=1), dispatch.cat([v, zeros], dim=1)
        mask, padding = (None if m is None else pad(m, (0, 1)) for m in (mask, padding))
    columns = k.size(1)
    if padding is not None:
        _need(
            tuple(padding.shape) == (batch, columns),
            f"expected key_padding_mask of sizes {(batch, columns)}, got {tuple(padding.shape)}",
        )
        padding = padding.view(batch, 1, 1, columns).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(rows, 1, columns)
        mask = padding if mask is None else mask + padding
    p = dropout_p if training else 0.0
    scores = None
    if need_weights:
        q = q * math.sqrt(1.0 / head)
        turned = k.transpose(-2, -1)
        scores = dispatch.bmm(q, turned) if mask is None else dispatch.baddbmm(mask, q, turned)
        scores = softmax(scores, dim=-1)
        scores = dropout(scores, p=p) if p > 0.0 else scores
        output = dispatch.bmm(scores, v).transpose(0, 1).reshape(length * batch, width)
    else:
        if mask is not None:
            lone = mask.size(0) == 1 and mask.dim() == 3
            mask = mask.unsqueeze(0) if lone else mask.view(batch, num_heads, -1, columns)
        sizes = ((q, length), (k, columns), (v, columns))
        q, k, v = (t.view(batch, num_heads, n, head) for t, n in sizes)
        output = _nn.scaled_dot_product_attention(q, k, v, mask, p, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(batch * length, width)
    output = _nn.linear(output, out_proj_weight, out_proj_bias)
    output = output.view(length, batch, output.size(1))
    if scores is not None:
        scores = scores.view(batch, num_heads, length, columns)
        scores = scores.mean(dim=1) if average_attn_weights else scores
    if not batched:
        output, scores = output.squeeze(1), None if scores is None else scores.squeeze(0)
    return output, scores
