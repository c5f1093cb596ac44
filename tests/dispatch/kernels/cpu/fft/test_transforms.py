"""Fourier transforms on the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode

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


@pytest.mark.parametrize("dim", [[1], [0], [0, 1]])
def test_large_transforms(dim):
    x = rng.standard_normal((256, 192))
    t, z = dispatch.from_numpy(x), dispatch.from_numpy(x + 0j)
    want = np.fft.fftn(x, axes=dim)
    for got in (aten._fft_r2c(t, dim, 0, False), aten._fft_c2c(z, dim, 0, True)):
        np.testing.assert_allclose(got.numpy(), want, atol=1e-9)
    half = aten._fft_r2c(t, dim, 1, True)
    np.testing.assert_allclose(half.numpy(), np.fft.rfftn(x, axes=dim, norm="ortho"), atol=1e-9)
    back = aten._fft_c2r(half, dim, 1, x.shape[dim[-1]])
    np.testing.assert_allclose(back.numpy(), x, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 12, 17, 31])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_lines_of_strided_input(n, kind, dim):
    sizes = [3, 2, 4]
    sizes[dim] = n
    wide = rng.standard_normal([2 * k for k in sizes]).astype(kind)
    x, t = wide[::2, ::2, ::2], dispatch.from_numpy(wide)[::2, ::2, ::2]
    close = {"rtol": 1e-5, "atol": 1e-5} if kind is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    for onesided, want in ((True, np.fft.rfft(x, axis=dim)), (False, np.fft.fft(x, axis=dim))):
        got = aten._fft_r2c(t, [dim], 0, onesided)
        np.testing.assert_allclose(got.numpy(), want, **close)
    half = np.fft.rfft(x, axis=dim).astype(np.result_type(kind, np.complex64))
    back = aten._fft_c2r(dispatch.from_numpy(half), [dim], 2, n)
    np.testing.assert_allclose(back.numpy(), x, **close)


def test_output_may_be_the_input():
    x = rng.standard_normal((3, 4, 5)) + 1j
    z = dispatch.from_numpy(x.copy())
    assert aten._fft_c2c.out(z, [0, 2], 0, True, out=z) is z
    np.testing.assert_allclose(z.numpy(), np.fft.fftn(x, axes=[0, 2]), atol=1e-12)


def test_output_of_another_order_and_dtype():
    x = rng.standard_normal((3, 4))
    out = dispatch.empty(4, 3, dtype=dispatch.complex64).t()
    aten._fft_r2c.out(dispatch.from_numpy(x), [1], 1, False, out=out)
    np.testing.assert_allclose(out.numpy(), np.fft.fft(x, norm="ortho"), atol=1e-6)
    assert out.stride() == (1, 3)


@pytest.mark.parametrize("size", [7, 12, 13])
def test_halves_of_two_dimensions(size):
    x = rng.standard_normal((4, 7)) + 1j * rng.standard_normal((4, 7))
    got = aten._fft_c2r(dispatch.from_numpy(x), [0, 1], 0, size)
    want = np.fft.irfft(np.fft.ifft(x, axis=0, norm="forward"), size, norm="forward")
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 3, 5, 6, 8, 9, 11, 14])
def test_a_half_that_is_none_of_the_size_is_refused(size):
    with pytest.raises(RuntimeError, match=r"^aten::_fft_c2r: "):
        aten._fft_c2r(dispatch.ones(4, 7, dtype=dispatch.complex64), [0, 1], 0, size)


@pytest.mark.parametrize(
    ("normalization", "want"), [(0, 12), (1, 12**0.5), (2, 1), (3, 1), (-1, 1)]
)
def test_any_other_way_to_normalise_divides_by_the_count(normalization, want):
    found = aten._fft_c2r(dispatch.ones(7, dtype=dispatch.complex128), [0], normalization, 12)
    assert found.abs().sum().item() == pytest.approx(want)


@pytest.mark.parametrize(("sizes", "dim"), [((5, 4), [2]), ((5, 4), []), ((), [0])])
def test_dimensions_that_are_none(sizes, dim):
    x = dispatch.ones(sizes)
    for call in (lambda x: aten._fft_r2c(x, dim, 0, True),
                 lambda x: aten._fft_c2r(aten.complex(x, x), dim, 0, 6)):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"^aten::_fft"):
            call(x)
        with FakeTensorMode() as mode, pytest.raises(IndexError, match=r"^aten::_fft"):
            call(mode.from_tensor(x))


@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("lines", [5, 16, 21])
@pytest.mark.parametrize(
    "n", [2, 3, 5, 8, 12, 15, 16, 26, 49, 64, 66, 88, 100, 169, 250, 512, 1001, 4096, 34, 8190]
)
def test_many_lines_are_transformed_as_each_is(n, lines, wide):
    transforms_are_those_of_numpy(n, lines, wide)


@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("lines, n", [(1, 16384), (2, 20000), (1, 30030), (1, 16385)])
def test_long_lines_are_transformed_by_columns_and_rows(lines, n, wide):
    transforms_are_those_of_numpy(n, lines, wide)


def transforms_are_those_of_numpy(n, lines, wide):
    """Along rows, columns, and every second element, both ways, halves of real lines too."""
    complex_, real, tolerance = (
        (np.complex128, np.float64, 1e-14) if wide else (np.complex64, np.float32, 3e-6)
    )
    flat = rng.standard_normal((2, lines, 2 * n))
    z, x = (flat[0] + 1j * flat[1]).astype(complex_), flat[0].astype(real)
    for lay in (lambda a: a[:, :n].copy(), lambda a: a[:, ::2], lambda a: a[:, :n].copy().T):
        for name, of in (("fft", z), ("ifft", z), ("rfft", x), ("fft", x)):
            given = lay(of)
            dim = given.shape.index(n)
            got = getattr(aten, f"fft_{name}")(dispatch.from_numpy(given), None, dim).numpy()
            doubled = given.astype(np.complex128 if np.iscomplexobj(given) else np.float64)
            want = getattr(np.fft, name)(doubled, axis=dim)
            assert got.dtype == complex_
            np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * 4 * abs(want).max())
        half = given[: n // 2 + 1] if dim == 0 else given[:, : n // 2 + 1]
        half = half.astype(complex_) + half.astype(complex_)[::-1] * 1j
        got = aten._fft_c2r(dispatch.from_numpy(half), [dim], 2, n).numpy()
        want = np.fft.irfft(half.astype(np.complex128), n, axis=dim)
        assert got.dtype == real
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * 4 * abs(want).max())
