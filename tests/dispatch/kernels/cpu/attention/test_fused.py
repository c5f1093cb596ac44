"""Fused attention on the CPU, and its gradients against differences of its output."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
forward = aten._scaled_dot_product_flash_attention_for_cpu
backward = aten._scaled_dot_product_flash_attention_for_cpu_backward


def random(*sizes: int, seed: int = 0) -> dispatch.Tensor:
    return dispatch.from_numpy(np.random.default_rng(seed).normal(size=sizes))


@pytest.mark.parametrize("kind", ["plain", "causal", "masked"])
@pytest.mark.parametrize("key_heads", [4, 2])
def test_gradients_are_those_of_differences(kind, key_heads):
    given = [random(2, 4, 5, 3), *(random(2, key_heads, 5, 3, seed=s) for s in (1, 2))]
    options = {"attn_mask": random(5, 5, seed=3)} if kind == "masked" else {}
    causal = kind == "causal"
    g = random(2, 4, 5, 3, seed=4)
    out, total = forward(*given, 0.0, causal, **options)
    grads = backward(g, *given, out, total, 0.0, causal, **options)
    for i, grad in enumerate(grads):
        moved = random(*grad.shape, seed=5)
        ends = []
        for step in (-1e-6, 1e-6):
            moving = list(given)
            moving[i] = moving[i] + moved * step
            ends.append((forward(*moving, 0.0, causal, **options)[0] * g).sum().item())
        assert (grad * moved).sum().item() == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("kind", ["plain", "causal", "masked", "columns", "negative"])
def test_outputs_are_values_by_softmax_of_scores(name, kind):
    """Of so many rows that bfloat16 is multiplied as it is."""
    dtype = getattr(dispatch, name)
    q, k, v = (random(2, 2, n, 40, seed=s).to(dtype) for s, n in enumerate([70, 50, 50]))
    mask = random(70, 50, seed=4).to(dtype)
    mask[0], mask[:, 3] = -np.inf, -np.inf
    mask = mask.t().contiguous().t() if kind == "columns" else mask
    masked = kind in ("masked", "columns")
    scale = -0.3 if kind == "negative" else 40**-0.5
    options = {"attn_mask": mask if masked else None, "scale": scale}
    out, total = forward(q, k, v, 0.0, kind == "causal", **options)
    wide = [x.to(dispatch.float64).numpy() for x in (q, k, v, mask)]
    scores = wide[0] @ wide[1].swapaxes(-2, -1) * scale
    if masked:
        scores = scores + wide[3]
    if kind == "causal":
        scores[..., np.triu(np.ones((70, 50)), 1) > 0] = -np.inf
    weights = np.exp(scores)
    sums = weights.sum(-1, keepdims=True)
    sums[sums == 0] = 1
    near = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 0.03, "float16": 4e-3}[name]
    expected = weights / sums @ wide[2]
    np.testing.assert_allclose(out.to(dispatch.float64).numpy(), expected, atol=near)
    np.testing.assert_allclose(total.to(dispatch.float64).numpy(), np.log(sums)[..., 0], atol=near)


def test_a_row_that_sees_nothing_has_no_gradient():
    q, mask = random(1, 1, 2, 3), dispatch.tensor([[0.0, 0.0], [-np.inf, -np.inf]])
    mask = mask.to(dispatch.float64)
    out, total = forward(q, q, q, attn_mask=mask)
    grads = backward(dispatch.ones_like(q), q, q, q, out, total, 0.0, False, attn_mask=mask)
    assert grads[0].tolist()[0][0][1] == [0, 0, 0]


def test_logsumexp_of_another_dtype_is_refused():
    q = random(1, 1, 2, 3)
    out, total = forward(q, q, q)
    with pytest.raises(RuntimeError, match="logsumexp"):
        backward(q, q, q, q, out, total.to(dispatch.float32), 0.0, False)


def test_operands_of_other_sizes_are_refused():
    q, short = random(1, 1, 2, 3), random(1, 1, 1, 3)
    out, total = forward(q, q, q)
    few = total[:, :, :1]
    for given in [(short, q, q, q, out, total), (q, q, q, q, short, total), (q, q, q, q, out, few)]:
        with pytest.raises(RuntimeError, match="expected"):
            backward(*given, 0.0, False)


def test_keys_that_are_many_are_taken_in_blocks():
    q = random(1, 1, 300, 2)
    out, total = forward(q, q, q)
    grads = backward(q, q, q, q, out, total, 0.0, False)
    scores = (q[0, 0].numpy() @ q[0, 0].numpy().T) / np.sqrt(2)
    weights = np.exp(scores - total[0, 0].numpy()[:, None])
    np.testing.assert_allclose(grads[2][0, 0].numpy(), weights.T @ q[0, 0].numpy(), rtol=1e-10)
