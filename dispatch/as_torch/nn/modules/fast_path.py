"""One operator for attention or a whole encoder layer (PyTorch's fast path), where nobody trains.

`MultiheadAttention` and `TransformerEncoderLayer` ask here first; None says that the layer goes by
its parts. The conditions, and what becomes of masks, are those of `torch.nn.modules`: the operators
look only at which elements of a mask are not 0.
"""

from typing import Any

import dispatch
from dispatch import Tensor, ops
from dispatch._C import _get_privateuse1_backend_name
from dispatch._C.torch_function import _has_torch_function
from dispatch.as_torch.nn import functional as F

__all__ = ["attention", "encoder_layer"]


def attention(
    module: Any, query: Any, key: Any, value: Any, padding: Any, need_weights: bool, mask: Any,
    average: bool,
) -> tuple[Tensor, Tensor | None] | None:  # fmt: skip
    """What `module.forward` gives, by one operator; masks are addends that were boolean."""
    packed = (query, module.in_proj_weight, module.in_proj_bias)
    if (
        query is not key or key is not value or module.in_proj_weight is None
        or any(t is not None and t.dtype != query.dtype for t in packed)
        or module.bias_k is not None or module.bias_v is not None or module.add_zero_attn
    ):  # fmt: skip
        return None
    given = (*packed, module.out_proj.weight, module.out_proj.bias)
    if not _may_be_fast(module, module, query, given):
        return None
    joined, kind = _joined(module.num_heads, mask, padding, query)
    if module.in_proj_bias is None:  # PyTorch joins the masks before it sees that
        return None
    operator: Any = ops.aten._native_multi_head_attention
    output, weights = operator(
        query, key, value, module.embed_dim, module.num_heads, *given[1:], joined, need_weights,
        average, kind,
    )  # fmt: skip
    return output, weights if need_weights else None


def encoder_layer(layer: Any, src: Any, mask: Any, padding: Any) -> Tensor | None:
    """What `layer.forward` gives, by one operator; masks are addends."""
    own, norms = layer.self_attn, (layer.norm1, layer.norm2)
    known = _activation_of(layer)
    if (
        own.in_proj_bias is None or not known or norms[0].eps != norms[1].eps
        or any(m._forward_hooks or m._forward_pre_hooks for m in layer.modules())
    ):  # fmt: skip
        return None
    first = (src, own.in_proj_weight, own.in_proj_bias, own.out_proj.weight, own.out_proj.bias)
    rest = [t for m in (*norms, layer.linear1, layer.linear2) for t in (m.weight, m.bias)]
    if not _may_be_fast(layer, own, src, (*first, *rest)):
        return None
    joined, kind = _joined(own.num_heads, mask, padding, src)
    operator: Any = ops.aten._transformer_encoder_layer_fwd
    result: Tensor = operator(
        src, own.embed_dim, own.num_heads, *first[1:], known == 2, layer.norm_first, norms[0].eps,
        *rest, joined, kind,
    )  # fmt: skip
    return result


def _activation_of(layer: Any) -> int:
    """1 for relu, 2 for gelu, else 0."""
    if layer.activation is F.gelu or type(layer.activation).__name__ == "GELU":
        return 2
    return int(layer.activation is F.relu or type(layer.activation).__name__ == "ReLU")


def why_not_nested(layer: Any) -> str:
    """Why copies of `layer` are not given sequences without their padding; "" if they may be."""
    own = getattr(layer, "self_attn", None)
    if not hasattr(layer, "norm_first") or own is None:
        return f"{type(layer).__name__} is no TransformerEncoderLayer"
    reasons = {
        "norm_first is True": layer.norm_first,
        "batch_first is False": not own.batch_first,
        "keys or values have sizes of their own": not own._qkv_same_embed_dim,
        "there is no bias": own.in_proj_bias is None,
        "the activation is neither relu nor gelu": not _activation_of(layer),
        "the norms differ in eps": layer.norm1.eps != layer.norm2.eps,
        "the number of heads is odd": own.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _may_be_fast(layer: Any, own: Any, x: Any, given: tuple[Any, ...]) -> bool:
    """Whether mode, sizes, devices and gradients let one operator do it all."""
    there = tuple(t for t in given if t is not None)
    if (
        layer.training or x.dim() != 3 or not own.batch_first or not own._qkv_same_embed_dim
        or own.num_heads % 2 or dispatch.is_autocast_enabled()
        or _has_torch_function(there)
    ):  # fmt: skip
        return False
    places = ("cpu", "cuda", "xpu", _get_privateuse1_backend_name())
    return all(t.device.type in places for t in there) and not (
        dispatch.is_grad_enabled() and any(t.requires_grad for t in there)
    )


def _joined(heads: int, mask: Any, padding: Any, x: Any) -> tuple[Any, int | None]:
    """Both masks as one, and its kind: 1 of keys, 2 of scores (MultiheadAttention.merge_masks)."""
    if mask is None:
        return padding, None if padding is None else 1
    batch, length, _ = x.shape
    if mask.dim() == 3:
        mask = mask.view(batch, -1, length, length)
    else:
        mask = mask.view(1, 1, length, length).expand(batch, heads, -1, -1)
    if padding is not None:
        mask = mask + padding.view(batch, 1, 1, length).expand(-1, heads, -1, -1)
    return mask, 2
