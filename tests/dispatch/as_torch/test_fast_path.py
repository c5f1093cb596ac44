"""Attention and encoder layers as one operator: when, with which masks, and the same values."""

import pytest

import dispatch
from dispatch import TorchDispatchMode
from dispatch.as_torch.nn import functional as F, modules

LAYER = "aten::_transformer_encoder_layer_fwd"
ATTENTION = "aten::_native_multi_head_attention"


class Names(TorchDispatchMode):
    """The operators of a block."""

    def __init__(self):
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func._schema.name)
        return func(*args, **(kwargs or {}))


def filled(module):
    for parameter in module.parameters():
        count = dispatch.arange(parameter.numel()).view(parameter.shape)
        parameter.data.copy_((count * 37 % 23 - 11) / 20)
    return module.eval()


X = (dispatch.arange(48.0).view(2, 3, 8) * 13 % 7 - 3) / 3
LATER = dispatch.ones(3, 3).triu(1).bool()
PADDING = dispatch.tensor([[0, 0, 1], [0, 0, 0]]).bool()
EACH_HEAD = LATER.expand(4, 3, 3)
MASKS = [(None, None), (LATER, None), (None, PADDING), (LATER, PADDING), (EACH_HEAD, None)]


@pytest.mark.parametrize(("mask", "padding"), MASKS)
@pytest.mark.parametrize("options", [{}, {"norm_first": True}, {"activation": "gelu"}])
def test_a_layer_is_one_operator_with_the_values_of_its_parts(mask, padding, options):
    layer = filled(modules.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options))
    by_parts = layer(X, mask, padding)  # weights want gradients
    with dispatch.no_grad(), Names() as names:
        at_once = layer(X, mask, padding)
    assert LAYER in names.seen and "aten::relu" not in names.seen
    assert dispatch.allclose(at_once, by_parts, atol=1e-5)


@pytest.mark.parametrize(("mask", "padding"), MASKS)
@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_is_one_operator_with_the_values_of_its_parts(mask, padding, need_weights):
    layer = filled(modules.MultiheadAttention(8, 2, batch_first=True))
    given = {"attn_mask": mask, "key_padding_mask": padding, "need_weights": need_weights}
    by_parts = layer(X, X, X, **given)
    with dispatch.no_grad(), Names() as names:
        at_once = layer(X, X, X, **given)
    assert ATTENTION in names.seen and "aten::linear" not in names.seen
    assert dispatch.allclose(at_once[0], by_parts[0], atol=1e-5)
    assert (at_once[1] is None) == (not need_weights)
    assert at_once[1] is None or dispatch.allclose(at_once[1], by_parts[1], atol=1e-5)


def hooked(layer):
    layer.linear1.register_forward_hook(lambda *_: None)


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({}, lambda layer: layer.train()),
        ({}, hooked),
        ({}, lambda layer: setattr(layer.norm2, "eps", 1.0)),
        ({"bias": False}, None),
        ({"batch_first": False}, None),
        ({"nhead": 1}, None),
        ({"activation": F.silu}, None),
    ],
)
def test_a_layer_goes_by_its_parts_where_pytorch_does(options, change):
    given = {"nhead": 2, "dropout": 0.0, "batch_first": True, **options}
    layer = filled(modules.TransformerEncoderLayer(8, dim_feedforward=16, **given))
    if change is not None:
        change(layer)
    with dispatch.no_grad(), Names() as names:
        layer(X)
    assert LAYER not in names.seen


def test_added_masks_keep_attention_by_its_parts():
    layer = filled(modules.MultiheadAttention(8, 2, batch_first=True))
    added = dispatch.zeros(3, 3).masked_fill(LATER, -1.0)
    with dispatch.no_grad(), Names() as names:
        layer(X, X, X, attn_mask=added)
        layer(X, X + 0, X)
    assert ATTENTION not in names.seen


def test_masks_become_addends_once_for_all_layers():
    layer = modules.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = filled(modules.TransformerEncoder(layer, 3))
    with dispatch.no_grad(), Names() as names:
        encoder(X, src_key_padding_mask=PADDING)
    assert names.seen == ["aten::zeros_like", "aten::masked_fill_", *[LAYER] * 3]
