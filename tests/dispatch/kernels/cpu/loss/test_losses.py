"""Losses refuse what PyTorch refuses."""

import numpy as np
import pytest

import dispatch

_ENTROPY = "binary_cross_entropy"


@pytest.mark.parametrize("other", ["float64", "complex64", "int64"])
def test_a_target_of_another_dtype_is_refused(other):
    target = dispatch.ones(2, dtype=getattr(dispatch, other))
    with pytest.raises(RuntimeError, match="expected a target of"):
        dispatch.ops.aten.binary_cross_entropy.default(dispatch.ones(2), target)


def test_slope_of_binary_cross_entropy():
    x, y = dispatch.tensor([[0.2, 0.5], [0.0, 1.0]]), dispatch.tensor([[1.0, 0.0], [1.0, 0.3]])
    slope = dispatch.ops.aten.binary_cross_entropy_backward
    ones = dispatch.ones(2, 2)
    assert slope(ones, x, y, None, 0).flatten().tolist() == pytest.approx([-5, 2, -1e12, 7e11])
    weighed = slope(ones, x, y, dispatch.tensor([1.0, 2.0]), 0)
    assert weighed[0].tolist() == pytest.approx([-5, 4])
    assert slope(dispatch.tensor(2.0), x, y)[0].tolist() == pytest.approx([-2.5, 1])
    p, wanted = dispatch.rand(300), dispatch.rand(300)
    for one in (dispatch.tensor(0.3), dispatch.tensor([0.3])):
        assert dispatch.equal(slope(one, p, wanted), slope(one.expand(300).clone(), p, wanted))
    with pytest.raises(RuntimeError, match=r"_backward: expected .*float32"):
        slope(ones, x, y.double())
    with pytest.raises(RuntimeError, match="do not broadcast"):
        slope(ones, x, y, dispatch.ones(3))


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss", _ENTROPY])
def test_losses_of_many_elements(name, kind, reduction):
    generator = np.random.default_rng(0)
    x, y = (generator.uniform(0, 1, size=1300).astype(kind) for _ in range(2))
    x[:4] = 0, 1, 1e-30, 1e-4
    scale = 1 if name == _ENTROPY else 4
    p, q, far = x.astype(np.float64), y.astype(np.float64), np.abs(x - y.astype(np.float64)) * scale
    with np.errstate(divide="ignore"):
        cut = [np.maximum(np.log(p), -100), np.maximum(np.log1p(-p), -100)]
    wanted = {
        "mse_loss": far**2,
        "smooth_l1_loss": np.where(far < 1, far**2 / 2, far - 0.5),
        "huber_loss": np.where(far <= 1, far**2 / 2, far - 0.5),
        _ENTROPY: -q * cut[0] - (1 - q) * cut[1],
    }[name]
    call = getattr(dispatch.ops.aten, name)
    found = call(*(dispatch.from_numpy(t * kind(scale)) for t in (x, y)), reduction=reduction)
    exact = {0: wanted, 1: wanted.mean(), 2: wanted.sum()}[reduction]
    rtol = 2e-6 if kind is np.float32 else 1e-12
    np.testing.assert_allclose(found.numpy(), exact, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_of_halves_are_computed_in_float32(name, dtype, reduction):
    generator, kind = np.random.default_rng(0), getattr(dispatch, dtype)
    x, y = (dispatch.from_numpy(generator.normal(size=1300) * 2).to(kind) for _ in range(2))
    call = getattr(dispatch.ops.aten, name)
    want = call(x.float(), y.float(), reduction=reduction)
    assert dispatch.equal(call(x, y, reduction=reduction), want.to(kind))
    mixed = call(x, y.float(), reduction=reduction)
    assert dispatch.equal(mixed, want.to(mixed.dtype))
    wide = call(x, y.double(), reduction=reduction)
    rounding = 1e-5 if wide.dtype == dispatch.float64 else 1e-2
    np.testing.assert_allclose(wide.double().numpy(), want.numpy(), rtol=rounding, atol=1e-6)
    out = (
        dispatch.zeros(1300, 2, dtype=kind)[:, 0]
        if not reduction
        else dispatch.zeros((), dtype=kind)
    )
    assert dispatch.equal(call(x, y, reduction=reduction, out=out), want.to(kind))
