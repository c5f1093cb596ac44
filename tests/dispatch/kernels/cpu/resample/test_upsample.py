"""Interpolation and grid sampling on the CPU (values recorded from PyTorch 2.13)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
nan, inf = math.nan, math.inf
BYTES = np.array([[[[0, 255, 10], [20, 30, 40]]]], np.uint8)


@pytest.mark.parametrize(
    ("size", "scale", "want"),
    [
        (3, None, [0, 1, 2]),
        (6, None, [0, 0, 1, 1, 2, 2]),
        (2, None, [0, 1]),
        (4, 1.5, [0, 0, 1, 2]),
    ],
)
def test_nearest_takes_the_element_below(size, scale, want):
    x = dispatch.tensor([[[[0.0, 1.0, 2.0]]]])
    assert aten.upsample_nearest2d(x, [1, size], None, scale).flatten().tolist() == want


@pytest.mark.parametrize(("name", "corners", "want"), [
    ("bilinear", False, [0, 5, 15, 20]),
    ("bilinear", True, [0, 20 / 3, 40 / 3, 20]),
    ("bicubic", False, [-2.109375, 4.53125, 15.46875, 22.109375]),
    ("bicubic", True, [0, 6.296292, 13.703703, 20]),
])
def test_weights_between_two_elements(name, corners, want):
    x = dispatch.tensor([[[[0.0], [20.0]]]])
    got = getattr(aten, f"upsample_{name}2d")(x, [4, 1], corners)
    assert got.flatten().tolist() == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("name", "want"), [
    ("bilinear", [[0, 159, 163, 10], [2, 146, 150, 13], [10, 93, 99, 25], [18, 39, 47, 37],
                  [20, 26, 34, 40]]),
    ("bicubic", [[0, 208, 213, 0], [2, 176, 182, 3], [10, 108, 115, 21], [17, 39, 48, 38],
                 [21, 7, 17, 46]]),
])
def test_bytes_are_rounded_after_each_dimension(name, want):
    got = getattr(aten, f"upsample_{name}2d")(dispatch.from_numpy(BYTES), [5, 4], False)
    assert got[0, 0].tolist() == want


def test_unchanged_size_still_multiplies_by_zero():
    x = dispatch.tensor([[[[0.0, inf, 0.0]]]])
    assert str(aten.upsample_bilinear2d(x, [1, 3], False).flatten().tolist()) == "[0.0, nan, 0.0]"


@pytest.mark.parametrize(("mode", "padding", "corners", "want"), [
    (0, 0, False, [nan, nan, 0.0, 0.0, 8.5]),
    (0, 0, True, [nan, nan, 2.5, 1.75, 8.5]),
    (0, 1, False, [7.0, 10.0, 10.0, 7.0, 8.5]),
    (0, 2, True, [7.0, 7.0, 9.25, 7.75, 8.5]),
    (1, 0, False, [0.0, 0.0, 0.0, 0.0, 11.0]),
    (1, 2, True, [9.0, 9.0, 11.0, 10.0, 11.0]),
    (2, 0, False, [nan, nan, -0.9375, -0.65625, 8.5]),
    (2, 1, True, [nan, nan, 10.03515625, 6.96484375, 8.5]),
    (2, 2, False, [nan, nan, 9.59375, 7.40625, 8.5]),
])
def test_grid_sampler_at_and_beyond_the_borders(mode, padding, corners, want):
    across = np.array([nan, inf, 1.5, -1.5, 0.0], np.float32)
    grid = dispatch.from_numpy(np.stack([across, np.zeros_like(across)], -1)[None, None])
    x = dispatch.arange(1.0, 17.0).reshape(1, 1, 4, 4)
    got = aten.grid_sampler_2d(x, grid, mode, padding, corners).flatten().tolist()
    np.testing.assert_array_equal(got, want)
