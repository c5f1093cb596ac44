"""Frequencies of transforms and rolling them."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_frequencies_are_numpys(n):
    kind = dispatch.float64
    got = aten.fft_fftfreq(n, 0.5, dtype=kind)
    np.testing.assert_allclose(got.numpy(), np.fft.fftfreq(n, 0.5))
    half = aten.fft_rfftfreq.out(n, 0.5, out=dispatch.empty(0, dtype=kind))
    np.testing.assert_allclose(half.numpy(), np.fft.rfftfreq(n, 0.5))


def test_frequencies_are_no_integers():
    with pytest.raises(RuntimeError, match=r"fft_fftfreq.*int32"):
        aten.fft_fftfreq(4, dtype=dispatch.int32)


@pytest.mark.parametrize("dim", [None, [0], [1, 0]])
def test_shifts_are_numpys_and_undo_each_other(dim):
    x = np.arange(15).reshape(3, 5)
    shifted = aten.fft_fftshift(dispatch.from_numpy(x), dim)
    assert shifted.tolist() == np.fft.fftshift(x, dim).tolist()
    assert aten.fft_ifftshift(shifted, dim).tolist() == x.tolist()


def test_shift_wants_dimensions_that_there_are():
    with pytest.raises(IndexError):
        aten.fft_fftshift(dispatch.ones(2), [3])
