"""Fourier transforms, interpolation, distances, fused attention: recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from dispatch._C import dtypes, tensor as core
from dispatch.kernels.meta import attention, distance, fft, rules, upsample

Ints = tuple[int, ...]

STORAGE = core._new_storage(1 << 16)


def tensor(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return core._new_strided(STORAGE, dtype, sizes, strides, 0)


# ---- fft ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "dims", "onesided", "out", "strides"),
    [
        ((5, 4, 6), [0, 1, 2], True, (5, 4, 4), (16, 4, 1)),
        ((5, 4, 6), [-1], True, (5, 4, 4), (16, 4, 1)),
        ((5, 4, 6), [-2, -1], False, (5, 4, 6), (24, 6, 1)),
        ((5, 4, 6), [1], True, (5, 3, 6), (18, 1, 3)),
        ((0, 4, 6), [1], True, (0, 3, 6), (18, 1, 3)),
    ],
)
def test_real_to_complex(
    sizes: Ints, dims: list[int], onesided: bool, out: Ints, strides: Ints
) -> None:
    spec = fft.r2c(tensor(sizes), dims, 0, onesided)
    assert (spec.sizes, spec.strides, spec.dtype) == (out, strides, dtypes.complex64)


def test_complex_to_real_follows_the_order_in_memory() -> None:
    x = tensor((5, 6, 7), (0, 7, 1), dtypes.complex128)
    spec = fft.c2r(x, [0, 1, 2], 1, 12)
    assert (spec.sizes, spec.strides, spec.dtype) == ((5, 6, 12), (12, 60, 1), dtypes.float64)


@pytest.mark.parametrize(
    ("sizes", "dims", "error"),
    [
        ((5, 4), [2], IndexError),
        ((5, 4), [], IndexError),
        ((), [0], IndexError),
        ((5, 4), [1, 1], RuntimeError),
        ((5, 0), [1], RuntimeError),
    ],
)
def test_wrong_dimensions(sizes: Ints, dims: list[int], error: type[Exception]) -> None:
    with pytest.raises(error, match="_fft_r2c"):
        fft.r2c(tensor(sizes), dims, 0, True)


def test_dtypes_of_transforms() -> None:
    with pytest.raises(RuntimeError, match="complex64"):
        fft.r2c(tensor((4,), dtype=dtypes.complex64), [0], 0, True)
    with pytest.raises(RuntimeError, match="float32"):
        fft.c2r(tensor((4,)), [0], 0, 6)


# ---- interpolation -----------------------------------------------------------------------------


def test_interpolation_keeps_channels_last() -> None:
    x = tensor((2, 3, 4, 4), rules.channels_last_strides((2, 3, 4, 4)))
    wanted = rules.channels_last_strides((2, 3, 8, 6))
    assert upsample.nearest2d(x, [8, 6], None, None).strides == wanted
    assert upsample.bilinear2d(x, [8, 6], True, None, None).strides == wanted


@pytest.mark.parametrize(
    ("sizes", "output"), [((3, 4, 4), [8, 8]), ((2, 3, 4, 4), [8]), ((2, 3, 4, 4), [0, 8])]
)
def test_wrong_sizes_of_interpolation(sizes: Ints, output: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"^upsample_nearest2d: "):
        upsample.nearest2d(tensor(sizes), output, None, None)


def test_grid_sampler_takes_the_grid_s_sizes() -> None:
    x, grid = tensor((2, 3, 4, 4)), tensor((2, 5, 6, 2))
    assert upsample.grid_sampler_2d(x, grid, 0, 0, True).sizes == (2, 3, 5, 6)
    with pytest.raises(RuntimeError, match="interpolation_mode"):
        upsample.grid_sampler_2d(x, grid, 3, 0, True)


# ---- distances ---------------------------------------------------------------------------------


def test_cdist_broadcasts_batches() -> None:
    spec = distance.cdist(tensor((2, 1, 4, 5)), tensor((3, 6, 5)), 2.0, None)
    assert spec.sizes == (2, 3, 4, 6)


@pytest.mark.parametrize(
    ("a", "b", "p", "mode"),
    [
        ((5,), (6, 5), 2.0, None),
        ((4, 5), (6, 4), 2.0, None),
        ((4, 5), (6, 5), -1.0, None),
        ((4, 5), (6, 5), 2.0, 3),
    ],
)
def test_cdist_checks(a: Ints, b: Ints, p: float, mode: int | None) -> None:
    with pytest.raises(RuntimeError, match=r"^_cdist_forward: "):
        distance.cdist(tensor(a), tensor(b), p, mode)


def test_pdist_has_one_distance_for_each_pair() -> None:
    assert distance.pdist(tensor((5, 3)), 2.0).sizes == (10,)
    with pytest.raises(RuntimeError, match="contiguous"):
        distance.pdist(tensor((5, 3), (1, 5)), 2.0)


# ---- attention ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strides", [(512, 128, 8, 1), (512, 8, 32, 1)])
def test_fused_attention_follows_the_query(strides: Ints) -> None:
    q = tensor((2, 4, 16, 8), strides, dtypes.bfloat16)
    out, logsumexp = attention.flash_attention_for_cpu(q, q, q, 0.0, False, None, None)
    assert out.strides == strides
    assert (logsumexp.sizes, logsumexp.strides) == ((2, 4, 16), (64, 1, 4))
    assert logsumexp.dtype is dtypes.float32


def test_efficient_attention_pads_the_logsumexp() -> None:
    q = tensor((2, 4, 33, 8))
    out, logsumexp, _, _ = attention.efficient_attention(q, q, q, None, True, 0.0, False, None)
    assert (out.sizes, out.strides) == ((2, 4, 33, 8), (1056, 8, 32, 1))
    assert logsumexp.sizes == (2, 4, 64)
