"""Attention of several heads, and the layers of encoders and decoders on top of it.

In evaluation, under conditions on their inputs, attention and encoder layers are one operator each
(`fast_path`); else they call the operators of their parts.
"""

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import dispatch
from dispatch._C.advice import advise
from dispatch.as_torch.nn import functional as F, init
from dispatch.as_torch.nn.attention import _as_addends
from dispatch.as_torch.nn.modules import fast_path
from dispatch.as_torch.nn.modules.applied import Dropout
from dispatch.as_torch.nn.modules.containers import ModuleList
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.modules.norms import LayerNorm
from dispatch.as_torch.nn.modules.weighted import Linear
from dispatch.as_torch.nn.parameter import Parameter

__all__ = [
    "MultiheadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that PyTorch shows inside of attention."""


class MultiheadAttention(Module):
    """Attention in several subspaces at once (torch.nn.MultiheadAttention)."""

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        place = {"device": device, "dtype": dtype}

        def made(there: bool, *shape: int) -> Any:
            return Parameter(dispatch.empty(shape, **place)) if there else None

        own, n = not self._qkv_same_embed_dim, embed_dim
        weights = {
            "q_proj_weight": made(own, n, n), "k_proj_weight": made(own, n, self.kdim),
            "v_proj_weight": made(own, n, self.vdim), "in_proj_weight": made(not own, 3 * n, n),
            "in_proj_bias": made(bias, 3 * n),
        }  # fmt: skip
        if not own:  # in the order of `state_dict`
            weights = {"in_proj_weight": weights.pop("in_proj_weight"), **weights}
        for name, value in weights.items():
            self.register_parameter(name, value)
        self.out_proj = NonDynamicallyQuantizableLinear(n, n, bias=bias, **place)
        self.bias_k, self.bias_v = made(add_bias_kv, 1, 1, n), made(add_bias_kv, 1, 1, n)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        names = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")
        for name in names:
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
        need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """(output, weights): weights are None without `need_weights`, else a mean over the heads
        or (with `average_attn_weights=False`) those of each head."""
        masks = (key_padding_mask, attn_mask)
        added = any(m is not None and m.is_floating_point() for m in masks)
        key_padding_mask, attn_mask = _as_addends(*masks, query)
        rest = key_padding_mask, need_weights, attn_mask, average_attn_weights
        at_once = None if added else fast_path.attention(self, query, key, value, *rest)
        if at_once is not None:
            return at_once
        turned = self.batch_first and query.dim() == 3
        if turned:
            made: dict[int, Any] = {}  # what is one tensor stays one
            query, key, value = (
                made[id(t)] if id(t) in made else made.setdefault(id(t), t.transpose(1, 0))
                for t in (query, key, value)
            )
        own: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            own = {
                "use_separate_proj_weight": True, "q_proj_weight": self.q_proj_weight,
                "k_proj_weight": self.k_proj_weight, "v_proj_weight": self.v_proj_weight,
            }  # fmt: skip
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, is_causal=is_causal, **own,
        )  # fmt: skip
        return (output.transpose(1, 0) if turned else output), weights


def _activation(given: str | Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {"relu": F.relu, "gelu": F.gelu}
    if isinstance(given, str) and given not in known:
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return known[given] if isinstance(given, str) else given


class _TransformerLayer(Module):
    """The feed-forward half, and what is around each part: norm before or behind, and a sum."""

    attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        place = {"device": device, "dtype": dtype}
        for name in self.attentions:
            made = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place
            )
            setattr(self, name, made)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for i in parts:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place))
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _around(self, i: int, x: Any, part: Callable[[Any], Any]) -> Any:
        norm, dropout = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        if self.norm_first:
            return x + dropout(part(norm(x)))
        return norm(x + dropout(part(x)))

    def _ff_block(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool) -> Any:
        return self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False,
            is_causal=is_causal,
        )[0]  # fmt: skip


class TransformerEncoderLayer(_TransformerLayer):
    """Attention of a sequence to itself, then two layers (torch.nn.TransformerEncoderLayer)."""

    attentions = ("self_attn",)

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The sequence, of the same sizes."""
        src_key_padding_mask, src_mask = _as_addends(src_key_padding_mask, src_mask, src)
        at_once = fast_path.encoder_layer(self, src, src_mask, src_key_padding_mask)
        if at_once is not None:
            return at_once

        def attend(x: Any) -> Any:
            return self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal)

        return self._around(2, self._around(1, src, attend), self._ff_block)


class TransformerDecoderLayer(_TransformerLayer):
    """`TransformerEncoderLayer` that also looks at a memory (torch.nn.TransformerDecoderLayer)."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The sequence, of the same sizes."""

        def attend(x: Any) -> Any:
            return self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def look_up(x: Any) -> Any:
            masks = memory_mask, memory_key_padding_mask
            return self._mha_block(x, memory, *masks, memory_is_causal)

        x = self._around(2, self._around(1, tgt, attend), look_up)
        return self._around(3, x, self._ff_block)

    def _mha_block(
        self, x: Any, mem: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool
    ) -> Any:
        return self.multihead_attn(
            x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
            is_causal=is_causal, need_weights=False,
        )[0]  # fmt: skip


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after another (torch.nn.TransformerEncoder)."""

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Any = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        reason = fast_path.why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not reason
        if enable_nested_tensor and reason:
            advise(f"TransformerEncoder: enable_nested_tensor has no effect, for {reason}")

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:  # fmt: skip
        """The sequence through all layers."""
        src_key_padding_mask, mask = _as_addends(src_key_padding_mask, mask, src)
        for layer in self.layers:
            src = layer(
                src, src_mask=mask, src_key_padding_mask=src_key_padding_mask,
                is_causal=bool(is_causal),
            )  # fmt: skip
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after another (torch.nn.TransformerDecoder)."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The sequence through all layers; masks as those of a layer."""
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal), memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder that looks at what it gives (torch.nn.Transformer)."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = F.relu, custom_encoder: Any = None, custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        place = {"device": device, "dtype": dtype}
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                    batch_first, norm_first, bias)  # fmt: skip
        for name, given, layer, stack, count in (
            ("encoder", custom_encoder, TransformerEncoderLayer, TransformerEncoder,
             num_encoder_layers),
            ("decoder", custom_decoder, TransformerDecoderLayer, TransformerDecoder,
             num_decoder_layers),
        ):  # fmt: skip
            if given is None:
                one = layer(*settings, **place)
                norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
                given = stack(one, count, norm)
            setattr(self, name, given)
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None,
        memory_mask: Any = None, src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The target sequence, of the same sizes; RuntimeError where batches or widths differ."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Minus infinity above the diagonal, 0 elsewhere."""
        full = dispatch.full((sz, sz), float("-inf"), dtype=dtype, device=device)
        return dispatch.triu(full, diagonal=1)
