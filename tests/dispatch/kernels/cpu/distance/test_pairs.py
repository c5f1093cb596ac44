"""Pairwise distances on the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch
from dispatch.kernels.cpu.distance import pairs as distance

aten = dispatch.ops.aten
rng = np.random.default_rng(0)
nan, inf = math.nan, math.inf


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, inf])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_distances_of_all_pairs(p, block, monkeypatch):
    monkeypatch.setattr(distance, "BLOCK", block)
    a, b = rng.standard_normal((2, 7, 3)), rng.standard_normal((1, 4, 3))
    got = aten._cdist_forward(dispatch.from_numpy(a), dispatch.from_numpy(b), p, 2).numpy()
    difference = np.abs(a[:, :, None] - b[:, None])
    want = np.linalg.norm(difference.reshape(-1, 3), ord=p, axis=1)
    np.testing.assert_allclose(got.ravel(), want)
    within = aten._pdist_forward(dispatch.from_numpy(a[0]), p).numpy()
    both = aten._cdist_forward(dispatch.from_numpy(a[:1]), dispatch.from_numpy(a[:1]), p, 2)
    np.testing.assert_allclose(within, both.numpy()[0][np.triu_indices(7, 1)])


def test_many_points_are_measured_by_a_product():
    a = dispatch.from_numpy(rng.standard_normal((30, 3)))
    exact, product = (aten._cdist_forward(a, a, 2.0, mode).numpy() for mode in (2, 0))
    np.testing.assert_allclose(product, exact, atol=1e-6)
    assert product.min() > 0 == exact.min()         # the product never gets to 0


def test_largest_difference_passes_over_nan_in_cdist_only():
    a, b = dispatch.tensor([[1.0, nan]]), dispatch.tensor([[3.0, 2.0]])
    assert aten._cdist_forward(a, b, inf, 2).item() == 2
    assert math.isnan(aten._pdist_forward(dispatch.cat([a, b]), inf).item())


def test_points_without_coordinates_are_not_apart():
    assert aten._cdist_forward(dispatch.ones(2, 0), dispatch.ones(3, 0), 2.0, None).tolist() == [
        [0, 0, 0], [0, 0, 0]
    ]
    assert aten._pdist_forward(dispatch.ones(3, 0), 2.0).tolist() == [0, 0, 0]
