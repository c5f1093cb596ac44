"""A transformer's layers in one call, against the same written out."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten


def random(*sizes: int, seed: int = 0) -> dispatch.Tensor:
    return dispatch.from_numpy(np.random.default_rng(seed).normal(size=sizes))


X = random(2, 5, 4)
WEIGHTS = (random(12, 4, seed=1), random(12, seed=2), random(4, 4, seed=3), random(4, seed=4))


def attention(mask=None):
    """Two heads of width 2."""
    qkv = X.numpy() @ WEIGHTS[0].numpy().T + WEIGHTS[1].numpy()
    q, k, v = (part.reshape(2, 5, 2, 2).transpose(0, 2, 1, 3) for part in np.split(qkv, 3, -1))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(2)
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True)
    context = (weights @ v).transpose(0, 2, 1, 3).reshape(2, 5, 4)
    return context @ WEIGHTS[2].numpy().T + WEIGHTS[3].numpy(), weights


def test_attention_of_several_heads():
    out, weights = attention()
    got = aten._native_multi_head_attention(X, X, X, 4, 2, *WEIGHTS)
    assert np.allclose(got[0].numpy(), out) and np.allclose(got[1].numpy(), weights.mean(1))
    whole = aten._native_multi_head_attention(X, X, X, 4, 2, *WEIGHTS, None, True, False)[1]
    assert np.allclose(whole.numpy(), weights)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_masks_by_their_type(kind):
    sizes = {0: (5, 5), 1: (2, 5), 2: (2, 2, 5, 5)}[kind]
    mask = np.random.default_rng(6).random(sizes) < 0.3
    wide = mask[:, None, None] if kind == 1 else mask
    given = dispatch.from_numpy(mask)
    got = aten._native_multi_head_attention(X, X, X, 4, 2, *WEIGHTS, given, True, True, kind)
    assert np.allclose(got[0].numpy(), attention(wide)[0])


def test_mask_needs_a_type_and_shapes_must_fit():
    mask = dispatch.zeros(5, 5, dtype=dispatch.bool)
    with pytest.raises(RuntimeError, match="mask_type"):
        aten._native_multi_head_attention(X, X, X, 4, 2, *WEIGHTS, mask)
    with pytest.raises(RuntimeError, match="one shape"):
        aten._native_multi_head_attention(X, X[:, :3], X, 4, 2, *WEIGHTS)


def test_queries_keys_and_values_share_a_storage():
    q, k, v = aten._transform_bias_rescale_qkv(random(2, 5, 12), random(12, seed=1), 2)
    assert [t.storage_offset() for t in (q, k, v)] == [0, 40, 80]
    assert q.untyped_storage().data_ptr() == v.untyped_storage().data_ptr()


@pytest.mark.parametrize("first", [False, True])
def test_layer_of_an_encoder(first):
    norm = (dispatch.ones(4, dtype=dispatch.float64), dispatch.zeros(4, dtype=dispatch.float64))
    ffn = random(6, 4, seed=7), random(6, seed=8), random(4, 6, seed=9), random(4, seed=10)
    got = aten._transformer_encoder_layer_fwd(
        X, 4, 2, *WEIGHTS, False, first, 1e-5, *norm, *norm, *ffn
    )

    def normed(x):
        return aten.layer_norm(x, [4], *norm, 1e-5)

    x = normed(X) if first else X
    x = aten._native_multi_head_attention(x, x, x, 4, 2, *WEIGHTS)[0] + X
    x = x if first else normed(x)
    hidden = aten.relu(aten.linear(normed(x) if first else x, *ffn[:2]))
    x = x + aten.linear(hidden, *ffn[2:])
    assert np.allclose(got.numpy(), (x if first else normed(x)).numpy())


def test_weights_in_four_bits_hold_each_number_once():
    numbers = dispatch.from_numpy(np.random.default_rng(1).integers(0, 16, (80, 4)).astype("i4"))
    packed = aten._convert_weight_to_int4pack_for_cpu(numbers, 2)
    halves = np.stack([packed.numpy() & 15, packed.numpy() >> 4])
    assert packed.shape == (80, 2)
    assert np.array_equal(np.sort(halves.ravel()), np.sort(numbers.numpy().ravel()))
    with pytest.raises(RuntimeError, match="16 rows"):
        aten._convert_weight_to_int4pack_for_cpu(numbers[:15], 2)
