"""Steps of optimisers: against their formulas, in every dtype; what they refuse."""

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten
ADAM = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8}
ADAM |= {"amsgrad": False, "maximize": False}
SGD = {"weight_decay": 0.0, "momentum": 0.0, "lr": 0.1, "dampening": 0.0, "nesterov": False}
SGD |= {"maximize": False, "is_first_step": False}


def lists(*values, kind=dispatch.float32):
    return [[tensor(v, dtype=kind)] for v in values]


def adam(x, g, m, v, step, lr, beta1, beta2, eps):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    root = np.sqrt(v / (1 - beta2**step))
    return x - lr / (1 - beta1**step) * m / (root + eps), m, v


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("beta1", [0.9, 0.2])
def test_adam(name, beta1):
    rng = np.random.default_rng(0)
    given = [rng.standard_normal((2, 3)) for _ in range(3)] + [rng.random((2, 3)) + 1]
    x, g, m, v = ([dispatch.from_numpy(a).to(getattr(dispatch, name))] for a in given)
    want = adam(*(t[0].double().numpy() for t in (x, g, m, v)), 3, 0.1, beta1, 0.99, 1e-8)
    aten._fused_adam_(x, g, m, v, [], [tensor(3.0)], **ADAM | {"beta1": beta1})
    tolerance = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 1e-2}[name]
    for found, expected in zip((x, m, v), want, strict=True):
        np.testing.assert_allclose(found[0].double().numpy(), expected, tolerance, tolerance)


def test_decay_is_in_the_gradient_or_apart():
    for name, want in (("_fused_adam_", 0.9), ("_fused_adamw_", 0.85)):
        x, g, m, v = lists(1.0, 0.0, 0.0, 0.0)
        getattr(aten, name)(x, g, m, v, [], [tensor(1.0)], **ADAM | {"weight_decay": 0.5})
        assert x[0].item() == pytest.approx(want if name == "_fused_adam_" else 0.95)


def test_amsgrad_keeps_the_largest():
    x, g, m, v, most = lists([1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 4.0])
    aten._fused_adam_(x, g, m, v, most, [tensor(1.0)], **ADAM | {"amsgrad": True})
    np.testing.assert_allclose(most[0].numpy(), [0.04, 4], rtol=1e-5)
    np.testing.assert_allclose(x[0].numpy(), [0.9, 0.99], rtol=1e-5)


def test_gradients_are_unscaled_and_stored_so():
    x, g = lists([1.0, 1.0], [4.0, -2.0])
    aten._fused_sgd_(x, g, [], grad_scale=tensor(2.0), **SGD | {"maximize": True})
    assert g[0].tolist() == [2, -1]
    np.testing.assert_allclose(x[0].numpy(), [1.2, 0.9], rtol=1e-6)
    aten._fused_sgd_(x, g, [], found_inf=tensor(1.0), **SGD)
    assert g[0].tolist() == [2, -1]
    np.testing.assert_allclose(x[0].numpy(), [1.2, 0.9], rtol=1e-6)


@pytest.mark.parametrize(
    ("first", "nesterov", "buffer", "want"),
    [(True, False, 2, 0.8), (False, False, 2.9, 0.71), (False, True, 2.9, 0.539)],
)
def test_momentum(first, nesterov, buffer, want):
    x, g, b = lists(1.0, 2.0, 1.0)
    changed = {"momentum": 0.9, "nesterov": nesterov, "is_first_step": first}
    aten._fused_sgd_(x, g, b, **SGD | changed)
    assert b[0].item() == pytest.approx(buffer)
    assert x[0].item() == pytest.approx(want)


def test_adagrad_with_its_rate_in_a_tensor():
    x, g, s = lists(1.0, 3.0, 7.0)
    aten._fused_adagrad_.tensor_lr(
        x,
        g,
        s,
        [tensor(3.0)],
        lr=tensor(1.2),
        lr_decay=0.1,
        weight_decay=0.0,
        eps=0.0,
        maximize=False,
    )
    assert s[0].item() == 16
    assert x[0].item() == pytest.approx(1 - 1.0 * 3 / 4)


def test_memory_with_gaps_is_written_where_it_is():
    base, (g,) = dispatch.zeros(4, 2), lists([[1.0, 2.0], [3.0, 4.0]])
    aten._fused_sgd_([base[::2]], g, [], **SGD)
    np.testing.assert_allclose(
        base.numpy(), [[-0.1, -0.2], [0, 0], [-0.3, -0.4], [0, 0]], rtol=1e-6
    )


@pytest.mark.parametrize("kind", [dispatch.float16, dispatch.bfloat16])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("scale", [None, tensor(2.0)])
def test_16_bit_floats_are_what_float32_is_rounded_once(kind, gaps, scale):
    """More elements than are converted at once; gradients are stored if they were divided."""
    rng = np.random.default_rng(0)
    values = [[dispatch.from_numpy(rng.random(1300) + 0.5).to(kind)] for _ in range(5)]
    wide = [[t.float() for t in one] for one in values]
    if gaps:
        values = [[dispatch.stack([t, t], 1)[:, 0] for t in one] for one in values]
    for given in (values, wide):
        x, g, m, v, most = given
        how = ADAM | {"amsgrad": True, "grad_scale": scale}
        aten._fused_adam_(x, g, m, v, most, [tensor(3.0)], **how)
        for t in (x, m, v, most):
            t[0].copy_(t[0].to(kind))
        aten._fused_sgd_(x, g, m, **SGD | {"momentum": 0.5})
    for found, expected in zip(values, wide, strict=True):
        assert dispatch.equal(found[0].contiguous(), expected[0].to(kind))


def test_functional_and_out_variants_leave_their_arguments():
    x, g, b, out = lists(1.0, 2.0, 0.0, 9.0)
    changed = SGD | {"momentum": 0.5, "is_first_step": True}
    found = aten._fused_sgd(x, g, b, **changed)
    assert [[t.item() for t in row] for row in found] == [[pytest.approx(0.8)], [2], [2]]
    assert aten._fused_sgd.out(x, g, b, out=out, **changed) is None
    assert [t[0].item() for t in (x, g, b, out)] == [1, 2, 0, pytest.approx(0.8)]
    with pytest.raises(RuntimeError, match="expected 1 tensors to write to, got 0"):
        aten._fused_sgd.out(x, g, b, out=[], **changed)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({1: []}, "expected grads for 1 tensors, got 0"),
        ({1: [dispatch.ones(2, dtype=dispatch.float64)]}, "Float but found Double for grads"),
        ({1: [dispatch.ones(3)]}, r"grads of shape \[2\]"),
        ({4: [dispatch.ones(2)]}, "no max_exp_avg_sqs"),
        ({5: []}, "state_steps for 1"),
    ],
)
def test_everything_is_checked_before_anything_is_written(changed, text):
    given = [*lists(*[[1.0, 1.0]] * 4), [], [tensor(1.0)]]
    for i, value in changed.items():
        given[i] = value
    with pytest.raises(RuntimeError, match=f"aten::_fused_adam_: .*{text}"):
        aten._fused_adam_(*given, **ADAM)
    assert [t[0].tolist() for t in (given[0], *given[2:4])] == [[1, 1]] * 3


def test_meta_gives_empty_copies():
    x = [dispatch.empty(2, device="meta")]
    found = aten._fused_adam(x, x, x, x, [], x, **ADAM)
    assert [[tuple(t.shape) for t in row] for row in found] == [[(2,)]] * 4 + [[]]


# ---- scales ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_gradients_that_are_not_finite_are_found(name):
    grads = lists([2.0, 4.0], [6.0], kind=getattr(dispatch, name))
    flat, found = [t for row in grads for t in row], tensor(0.0)
    aten._amp_foreach_non_finite_check_and_unscale_(flat, found, tensor(0.5))
    assert ([t.tolist() for t in flat], found.item()) == ([[1, 2], [3]], 0)
    flat[1].fill_(float("nan"))
    aten._amp_foreach_non_finite_check_and_unscale_(flat, found, tensor(1.0))
    assert (flat[0].tolist(), found.item()) == ([1, 2], 1)


@pytest.mark.parametrize(
    ("steps", "inf", "scale", "left"),
    [(1, 0.0, 8, 2), (2, 0.0, 16, 0), (1, 1.0, 4, 0)],
)
def test_the_scale_follows_what_was_found(steps, inf, scale, left):
    given = (tensor(8.0), tensor(steps, dtype=dispatch.int32), tensor(inf), 2.0, 0.5, 3)
    both = aten._amp_update_scale(*given)
    assert [t.item() for t in both] == [scale, left]
    assert given[0].item() == 8
    assert aten._amp_update_scale_(*given) is given[0]
    assert (given[0].item(), given[1].item()) == (scale, left)


def test_scales_are_float32_numbers():
    with pytest.raises(RuntimeError, match="Int but found Long for growth_tracker"):
        aten._amp_update_scale_(tensor(8.0), tensor(1), tensor(0.0), 2.0, 0.5, 3)
    with pytest.raises(RuntimeError, match="found_inf to have one element"):
        aten._amp_foreach_non_finite_check_and_unscale_([], dispatch.zeros(2), tensor(1.0))
