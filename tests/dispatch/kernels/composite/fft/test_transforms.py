"""Fourier transforms as a user calls them: values, lengths, dimensions, norms, `out`, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

aten = dispatch.ops.aten
rng = np.random.default_rng(0)

NORMS = [None, "backward", "ortho", "forward"]
REAL = rng.standard_normal((4, 6))
COMPLEX = REAL + 1j * rng.standard_normal((4, 6))


def close(got: dispatch.Tensor, want: np.ndarray) -> None:
    np.testing.assert_allclose(got.resolve_conj().numpy(), want, atol=1e-10)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 3, 9])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension_is_numpys(name, n, norm):
    x = REAL if name in ("rfft", "ihfft") else COMPLEX
    got = getattr(aten, f"fft_{name}")(dispatch.from_numpy(x), n, 0, norm)
    close(got, getattr(np.fft, name)(x, n, 0, norm))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "rfftn", "irfftn"])
def test_several_dimensions_are_numpys(name, norm):
    x = REAL if name.startswith("r") else COMPLEX
    got = getattr(aten, f"fft_{name}")(dispatch.from_numpy(x), [3, 4], [0, 1], norm)
    close(got, getattr(np.fft, name)(x, [3, 4], [0, 1], norm))


@pytest.mark.parametrize("norm", NORMS)
def test_hermitian_transforms_undo_each_other(norm):
    x = dispatch.from_numpy(REAL)
    half = aten.fft_ihfftn(x, None, [0, 1], norm)
    close(aten.fft_hfftn(half, list(REAL.shape), [0, 1], norm), REAL)
    close(aten.fft_hfft2(aten.fft_ihfft2(x), list(REAL.shape)), REAL)


def test_integers_become_floats():
    x = dispatch.tensor([1, 2, 3])
    assert aten.fft_fft(x).dtype is dispatch.complex64
    assert aten.fft_irfft(x).dtype is dispatch.float32


def test_shape_without_dims_is_that_of_the_last_ones():
    x = dispatch.ones(2, 3, 4)
    assert aten.fft_fftn(x, [5]).shape == (2, 3, 5)
    assert aten.fft_fftn(x, [5, -1]).shape == (2, 5, 4)


def test_no_dimensions_is_a_copy():
    x = dispatch.ones(2, 3, dtype=dispatch.complex64)
    got = aten.fft_fftn(x, dim=[])
    assert got.tolist() == x.tolist()
    assert got.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "ihfftn", "fftn", "ihfft2"])
def test_out_is_resized_contiguous(name):
    x = dispatch.from_numpy(REAL)
    out = dispatch.empty(0, dtype=dispatch.complex128)
    want = getattr(aten, f"fft_{name}")(x)
    assert getattr(aten, f"fft_{name}").out(x, out=out) is out
    assert out.is_contiguous()
    close(out, want.resolve_conj().numpy())


def test_one_dimensional_result_may_be_lazily_conjugate():
    assert aten.fft_ihfft(dispatch.ones(4)).is_conj()


@pytest.mark.parametrize(
    ("name", "args", "kind", "text"),
    [
        ("fft", (dispatch.ones(3), 0), RuntimeError, "number of data points"),
        ("fft", (dispatch.ones(()),), IndexError, None),
        (
            "fft",
            (dispatch.ones(3, dtype=dispatch.float16),),
            RuntimeError,
            "Unsupported dtype Half",
        ),
        ("fft", (dispatch.ones(3), None, -1, "no"), RuntimeError, "normalization mode"),
        ("irfft", (dispatch.ones(1),), RuntimeError, "number of data points"),
        ("rfft", (dispatch.ones(3, dtype=dispatch.complex64),), RuntimeError, "real"),
        ("fftn", (dispatch.ones(3), [1, 2]), RuntimeError, "Got shape with 2 values"),
        ("fftn", (dispatch.ones(3), [1], [0, 0]), RuntimeError, "dims must be unique"),
        ("fftn", (dispatch.ones(3, 3), [1], [0, 1]), RuntimeError, "must have the same length"),
        ("fftn", (dispatch.ones(3), None, [4]), IndexError, None),
        ("rfftn", (dispatch.ones(3), None, []), RuntimeError, "must transform at least one axis"),
        ("irfftn", (dispatch.ones(3), None, []), RuntimeError, "must transform at least one axis"),
    ],
)
def test_refusals(name, args, kind, text):
    with pytest.raises(kind, match=text and rf"fft_{name}.*{text}"):
        getattr(aten, f"fft_{name}")(*args)


def test_out_of_the_wrong_kind_is_refused():
    x, real = dispatch.ones(4), dispatch.empty(0)
    for name in ("fft", "rfft", "fftn"):
        with pytest.raises(RuntimeError, match=rf"fft_{name}.*expects a complex output"):
            getattr(aten, f"fft_{name}").out(x, out=real)
    with pytest.raises(RuntimeError, match=r"fft_irfft.*out to be floating-point"):
        aten.fft_irfft.out(x, out=dispatch.empty(0, dtype=dispatch.complex64))
    assert real.shape == (0,)


def test_there_is_no_cache_of_plans():
    for call in (aten._cufft_get_plan_cache_size, aten._cufft_clear_plan_cache):
        with pytest.raises(RuntimeError, match="cuFFT"):
            call(0)


@given(st.integers(1, 12), st.integers(1, 12))
def test_back_and_forth_is_the_same(rows, columns):
    x = np.random.default_rng(rows * 13 + columns).standard_normal((rows, columns))
    t = dispatch.from_numpy(x)
    close(aten.fft_irfft(aten.fft_rfft(t), columns), x)
    close(aten.fft_ifftn(aten.fft_fftn(t)), x.astype(complex))
