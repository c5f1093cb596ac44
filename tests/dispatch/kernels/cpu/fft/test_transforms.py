"""Fourier transforms on the CPU."""

from __future__ import annotations

import math
import sys

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


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("dim", [[1], [0], [0, 1]])
def test_large_transforms_are_the_same_without_scipy(dim, absent, monkeypatch):
    if absent:
        monkeypatch.setitem(sys.modules, "scipy.fft", None)
    x = rng.standard_normal((256, 192))
    t, z = dispatch.from_numpy(x), dispatch.from_numpy(x + 0j)
    want = np.fft.fftn(x, axes=dim)
    for got in (aten._fft_r2c(t, dim, 0, False), aten._fft_c2c(z, dim, 0, True)):
        np.testing.assert_allclose(got.numpy(), want, atol=1e-9)
    half = aten._fft_r2c(t, dim, 1, True)
    np.testing.assert_allclose(half.numpy(), np.fft.rfftn(x, axes=dim, norm="ortho"), atol=1e-9)
    back = aten._fft_c2r(half, dim, 1, x.shape[dim[-1]])
    np.testing.assert_allclose(back.numpy(), x, atol=1e-9)
