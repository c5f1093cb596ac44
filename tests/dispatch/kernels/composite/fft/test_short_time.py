"""Transforms of pieces of a signal: against numpy, and back to the signal."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch
from dispatch._C import advice

aten = dispatch.ops.aten
SIGNAL = np.random.default_rng(0).standard_normal((2, 40))


def hann(n: int) -> dispatch.Tensor:
    return dispatch.hann_window(n, dtype=dispatch.float64)


def test_pieces_are_transformed_one_by_one():
    window = hann(8)
    got = aten.stft(dispatch.from_numpy(SIGNAL), 8, 3, None, window, return_complex=True)
    weights = window.numpy()
    pieces = [np.fft.rfft(SIGNAL[:, i : i + 8] * weights) for i in range(0, 33, 3)]
    np.testing.assert_allclose(got.numpy(), np.stack(pieces, -1), atol=1e-12)


def test_signal_of_one_dimension_has_no_batch():
    x = dispatch.from_numpy(SIGNAL[0])
    got = aten.stft.center(x, 8, window=hann(8), return_complex=True)
    assert got.shape == (5, 21)
    real = aten.stft.center(x, 8, window=hann(8), onesided=False, return_complex=True)
    assert real.shape == (8, 21)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("wide", [8, 6])
@pytest.mark.parametrize("onesided", [False, True])
def test_inverse_gives_the_signal_back(onesided, wide, normalized):
    x = dispatch.from_numpy(SIGNAL)
    common = {"win_length": wide, "window": hann(wide), "normalized": normalized}
    spectrum = aten.stft.center(x, 8, onesided=onesided, return_complex=True, **common)
    back = aten.istft(spectrum, 8, onesided=onesided, length=40, **common)
    np.testing.assert_allclose(back.numpy(), SIGNAL, atol=1e-12)


def test_length_beyond_the_pieces_is_filled_with_zeros():
    x, window = dispatch.from_numpy(SIGNAL), dispatch.ones(8, dtype=dispatch.float64)
    spectrum = aten.stft.center(x, 8, window=window, return_complex=True)
    with pytest.warns(UserWarning, match="length 60"):
        back = aten.istft(spectrum, 8, window=window, length=60)
    assert back.shape == (2, 60)
    assert not back[:, 44:].any()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((80,), "n_fft"),
        ((8, 0), "hop_length"),
        ((8, 2, 9), "win_length"),
        ((8, 2, 6), "Invalid window shape"),
    ],
)
def test_sizes_that_do_not_fit(args, text):
    x = dispatch.from_numpy(SIGNAL)
    window = hann(args[0])
    with pytest.raises(RuntimeError, match=rf"stft.*{text}"):
        aten.stft(x, *args, window=window, return_complex=True)


def test_what_a_real_signal_must_say(monkeypatch):
    x, window = dispatch.from_numpy(SIGNAL), hann(8)
    with pytest.raises(RuntimeError, match="return_complex"):
        aten.stft(x, 8, window=window)
    monkeypatch.setattr(advice, "_told", set())
    with pytest.warns(UserWarning, match="deprecated"):
        got = aten.stft(x, 8, window=window, return_complex=False)
    assert got.shape == (2, 5, 17, 2)
    with pytest.raises(RuntimeError, match="onesided"):
        aten.stft(x.to(dispatch.complex128), 8, window=window, onesided=True)


def test_windows_that_leave_gaps_have_no_inverse():
    x = dispatch.from_numpy(SIGNAL)
    spectrum = aten.stft(x, 8, 4, window=hann(8), return_complex=True)
    with pytest.raises(RuntimeError, match="zero at some place"):
        aten.istft(spectrum, 8, 4, window=hann(8), center=False)
    with pytest.raises(RuntimeError, match=r"istft.*complex"):
        aten.istft(x, 8, window=hann(8))


def test_without_window_it_warns(monkeypatch):
    monkeypatch.setattr(advice, "_told", set())
    with pytest.warns(UserWarning, match="rectangular") as seen:
        for _ in range(2):
            aten.stft(dispatch.from_numpy(SIGNAL), 8, return_complex=True)
    assert [w.filename for w in seen] == [__file__]
