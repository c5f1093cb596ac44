"""Fourier transforms on the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
rng = np.random.default_rng(0)
nan, inf = math.nan, math.inf


@pytest.mark.parametrize("normalization", [0, 1, 2])
@pytest.mark.parametrize("dim", [[1], [0, 1], [1, 0]])
def test_real_transform_and_back(dim, normalization):
    x = rng.standard_normal((4, 6))
    forward = aten._fft_r2c(dispatch.from_numpy(x), dim, normalization, True)
    back = aten._fft_c2r(forward, dim, 2 - normalization, x.shape[dim[-1]])
    np.testing.assert_allclose(back.numpy(), x, atol=1e-12)


def test_two_sided_transform_has_all_frequencies():
    x = rng.standard_normal((3, 5)).astype(np.float32)
    got = aten._fft_r2c(dispatch.from_numpy(x), [0, 1], 0, False)
    np.testing.assert_allclose(got.numpy(), np.fft.fft2(x), rtol=1e-4, atol=1e-5)
    assert got.dtype is dispatch.complex64


def test_half_has_no_transform():
    with pytest.raises(RuntimeError, match=r"_fft_r2c.*float16"):
        aten._fft_r2c(dispatch.ones(4, dtype=dispatch.float16), [0], 0, True)
