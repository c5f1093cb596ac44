"""Metadata of a transformer's layers in one call, and of weights in four bits."""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import int32, uint8
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "_convert_weight_to_int4pack",
    "_convert_weight_to_int4pack_for_cpu",
    "_native_multi_head_attention",
    "_transformer_encoder_layer_fwd",
]

_clone = ops.aten.clone.default
_empty_like = ops.aten.empty_like.default
_new_empty = ops.aten.new_empty.default


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
) -> tuple[Tensor, Tensor]:
    if query.numel() == 0:
        return _new_empty(query, query.shape), _new_empty(query, [0])
    batch, length = query.size(0), query.size(1)
    out = _new_empty(query, [batch, length, proj_weight.size(0)])
    if not need_weights:
        return out, _new_empty(query, [0])
    heads = [] if average_attn_weights else [num_head]
    return out, _new_empty(query, [batch, *heads, length, length])


def _transformer_encoder_layer_fwd(src: Tensor, *more: Any, **options: Any) -> Tensor:
    made: Tensor = _clone(src) if src.numel() == 0 else _empty_like(src)
    return made


def check_packed(self: Tensor, kind: Any) -> None:
    if self.ndim != 2 or self.dtype is not kind:
        raise refused(
            f"expected self to be a matrix of {kind}, got {self.dtype} and {list(self.shape)}"
        )


def _convert_weight_to_int4pack(self: Tensor, innerKTiles: int) -> Tensor:
    check_packed(self, uint8)
    rows, columns = self.size(0), self.size(1) * 2
    sizes = [rows // 8, columns // (innerKTiles * 16), 32, innerKTiles // 2]
    made: Tensor = _new_empty(self, sizes, dtype=int32)
    return made


def _convert_weight_to_int4pack_for_cpu(self: Tensor, innerKTiles: int) -> Tensor:
    check_packed(self, int32)
    made: Tensor = _new_empty(self, [self.size(0), self.size(1) // 2], dtype=uint8)
    return made
