"""Windows: those of numpy, periodic or not."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

WINDOWS = {
    "bartlett": np.bartlett,
    "blackman": np.blackman,
    "hamming": np.hamming,
    "hann": np.hanning,
}


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("name", sorted(WINDOWS))
def test_windows_are_numpys(name, n):
    make, want = getattr(dispatch, f"{name}_window"), WINDOWS[name]
    whole = make(n, False, dtype=dispatch.float64)
    np.testing.assert_allclose(whole.numpy(), want(n), atol=1e-12)
    periodic = make(n, dtype=dispatch.float64)
    np.testing.assert_allclose(periodic.numpy(), want(n + 1)[:-1], atol=1e-12)


def test_hamming_takes_its_two_numbers():
    got = dispatch.hamming_window(3, False, 0.25, 0.5)
    assert np.allclose(got.numpy(), [-0.25, 0.75, -0.25])


@pytest.mark.parametrize("beta", [0.0, 3.5, 12.0])
def test_kaisers_window_is_numpys(beta):
    whole = dispatch.kaiser_window(5, False, beta, dtype=dispatch.float64)
    np.testing.assert_allclose(whole.numpy(), np.kaiser(5, beta), atol=1e-12)
    periodic = dispatch.kaiser_window(5, dtype=dispatch.float64)
    np.testing.assert_allclose(periodic.numpy(), np.kaiser(6, 12.0)[:-1], atol=1e-12)


@pytest.mark.parametrize("name", [*sorted(WINDOWS), "kaiser"])
def test_short_windows(name):
    make = getattr(dispatch, f"{name}_window")
    assert make(0).shape == (0,)
    assert make(1).tolist() == [1.0]
    assert make(1).dtype is dispatch.float32


def test_refusals():
    with pytest.raises(RuntimeError, match=r"hann_window.*int32"):
        dispatch.hann_window(3, dtype=dispatch.int32)
    with pytest.raises(RuntimeError, match=r"hann_window.*window_length.*-1"):
        dispatch.hann_window(-1)


def test_out_is_resized():
    out = dispatch.empty(0)
    assert dispatch.ops.aten.hann_window.out(4, out=out) is out
    assert np.allclose(out.numpy(), np.hanning(5)[:-1])
