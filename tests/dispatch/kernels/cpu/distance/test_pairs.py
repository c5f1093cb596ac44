"""Pairwise distances on the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
rng = np.random.default_rng(0)
nan, inf = math.nan, math.inf


@pytest.mark.parametrize("points", [4, 70])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, inf])
def test_distances_of_all_pairs(p, points):
    a, b = rng.standard_normal((2, points + 3, 3)), rng.standard_normal((1, points, 3))
    got = aten._cdist_forward(dispatch.from_numpy(a), dispatch.from_numpy(b), p, 2).numpy()
    difference = np.abs(a[:, :, None] - b[:, None])
    want = np.linalg.norm(difference.reshape(-1, 3), ord=p, axis=1)
    np.testing.assert_allclose(got.ravel(), want)
    within = aten._pdist_forward(dispatch.from_numpy(a[0]), p).numpy()
    both = aten._cdist_forward(dispatch.from_numpy(a[:1]), dispatch.from_numpy(a[:1]), p, 2)
    np.testing.assert_allclose(within, both.numpy()[0][np.triu_indices(points + 3, 1)])


def test_many_points_are_measured_by_a_product():
    a = dispatch.from_numpy(rng.standard_normal((30, 3)))
    exact, product = (aten._cdist_forward(a, a, 2.0, mode).numpy() for mode in (2, 0))
    np.testing.assert_allclose(product, exact, atol=1e-6)
    assert product.min() > 0 == exact.min()         # the product never gets to 0


def test_largest_difference_passes_over_nan_in_cdist_only():
    a, b = dispatch.tensor([[1.0, nan]]), dispatch.tensor([[3.0, 2.0]])
    assert aten._cdist_forward(a, b, inf, 2).item() == 2
    assert math.isnan(aten._pdist_forward(dispatch.cat([a, b]), inf).item())
    many = dispatch.arange(99.0).repeat(2, 1).t().contiguous()
    many[40, 0] = nan
    assert aten._cdist_forward(many, many, inf, 2)[40].tolist() == [abs(i - 40) for i in range(99)]
    assert aten._pdist_forward(many, inf).isnan().sum().item() == 98


def test_points_without_coordinates_are_not_apart():
    assert aten._cdist_forward(dispatch.ones(2, 0), dispatch.ones(3, 0), 2.0, None).tolist() == [
        [0, 0, 0], [0, 0, 0]
    ]
    assert aten._pdist_forward(dispatch.ones(3, 0), 2.0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0, 3.0, inf])
def test_gradients_are_the_slope(p):
    x, step = rng.standard_normal((2, 2, 4, 3))
    y = rng.standard_normal((5, 3))
    grad = rng.standard_normal((2, 4, 5))

    def distances(v):
        return aten._cdist_forward(dispatch.from_numpy(v), dispatch.from_numpy(y), p, 2)

    found = aten._cdist_backward(
        dispatch.from_numpy(grad), dispatch.from_numpy(x), dispatch.from_numpy(y), p, distances(x)
    ).numpy()
    slope = ((distances(x + 1e-6 * step) - distances(x - 1e-6 * step)).numpy() * grad).sum() / 2e-6
    assert np.isclose(slope, (found * step).sum(), rtol=1e-5)
    within = aten._pdist_forward(dispatch.from_numpy(x[0]), p)
    ones = dispatch.ones(6, dtype=dispatch.float64)
    one_set = aten._pdist_backward(ones, dispatch.from_numpy(x[0]), p, within).numpy()
    np.testing.assert_allclose(one_set.sum(axis=0), 0, atol=1e-9)


def test_gradients_of_the_wrong_size_are_refused():
    x = dispatch.ones(4, 3)
    with pytest.raises(RuntimeError, match="aten::_pdist_backward: expected grad of shape"):
        aten._pdist_backward(dispatch.ones(5), x, 2.0, dispatch.ones(6))
    with pytest.raises(RuntimeError, match="aten::_cdist_backward: expected cdist of shape"):
        aten._cdist_backward(dispatch.ones(4, 4), x, x, 2.0, dispatch.ones(4, 3))


def test_batches_of_both_are_broadcast_where_they_lie():
    rng = np.random.default_rng(2)
    wide = rng.standard_normal((2, 1, 8, 6))
    a, b = wide[:, :, ::2, ::2], rng.standard_normal((3, 5, 3))
    want = np.abs(a[..., :, None, :] - b[..., None, :, :]).sum(-1)
    got = dispatch.ops.aten._cdist_forward(
        dispatch.from_numpy(wide)[:, :, ::2, ::2], dispatch.from_numpy(b), 1.0, None
    )
    np.testing.assert_allclose(got.numpy(), want)
    grad = dispatch.ops.aten._cdist_backward(
        dispatch.ones_like(got),
        dispatch.from_numpy(wide)[:, :, ::2, ::2],
        dispatch.from_numpy(b),
        1.0,
        got,
    )
    signs = np.sign(a[..., :, None, :] - b[..., None, :, :]).sum(-2)
    np.testing.assert_allclose(grad.numpy(), signs)


def test_gradients_of_no_batch_are_zero():
    x, empty = dispatch.ones(3, 5), dispatch.zeros(0, 3, 4)
    got = aten._cdist_backward(empty, x, dispatch.zeros(0, 4, 5), 0.5, empty)
    assert got.tolist() == [[0.0] * 5] * 3
