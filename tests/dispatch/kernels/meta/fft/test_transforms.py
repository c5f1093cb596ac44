"""Shapes of Fourier transforms: recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from dispatch._C import arrays, dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch._ops import ops
from dispatch.kernels.meta import rules

Ints = tuple[int, ...]

STORAGE = _new_storage(1 << 16)


def tensor(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return arrays._new_strided(STORAGE, dtype, sizes, strides, 0)


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
    made = ops.aten._fft_r2c(tensor(sizes), dims, 0, onesided)
    assert (tuple(made.shape), made.stride(), made.dtype) == (out, strides, dtypes.complex64)


def test_complex_to_real_follows_the_order_in_memory() -> None:
    x = tensor((5, 6, 7), (0, 7, 1), dtypes.complex128)
    made = ops.aten._fft_c2r(x, [0, 1, 2], 1, 12)
    assert (tuple(made.shape), made.stride()) == ((5, 6, 12), (12, 60, 1))
    assert made.dtype is dtypes.float64


@pytest.mark.parametrize(
    ("sizes", "dims"),
    [
        ((5, 4), [2]),
        ((5, 4), []),
        ((), [0]),
        ((5, 4), [1, 1]),
        ((5, 0), [1]),
    ],
)
def test_wrong_dimensions(sizes: Ints, dims: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::_fft_r2c: "):
        ops.aten._fft_r2c(tensor(sizes), dims, 0, True)


def test_dtypes_of_transforms() -> None:
    with pytest.raises(RuntimeError, match="complex64"):
        ops.aten._fft_r2c(tensor((4,), dtype=dtypes.complex64), [0], 0, True)
    with pytest.raises(RuntimeError, match="float32"):
        ops.aten._fft_c2r(tensor((4,)), [0], 0, 6)


@pytest.mark.parametrize(
    ("sizes", "strides", "dims", "expected"),
    [
        ((2, 3, 4), (1, 2, 6), [0, 1], (4, 1, 8)),
        ((3, 4, 5), (1, 15, 3), [1, 2], (32, 8, 1)),
        ((3, 4, 5), (1, 15, 3), [0, 1, 2], (8, 24, 1)),
        ((2, 3, 4, 5), (60, 1, 3, 12), [2, 0], (1, 8, 2, 24)),
        ((2, 3, 4, 5), (60, 1, 3, 12), [0, 2], (6, 12, 1, 36)),
        ((4, 3, 2, 5), (1, 4, 12, 24), [2, 0], (1, 12, 6, 36)),
        ((4, 3, 2, 5), (1, 4, 12, 24), [1, 2], (6, 2, 1, 24)),
    ],
)
def test_real_values_lie_as_the_complex_transform_before_left_them(
    sizes: Ints, strides: Ints, dims: list[int], expected: Ints
) -> None:
    x = tensor(sizes, strides, dtypes.complex64)
    assert ops.aten._fft_c2r(x, dims, 0, 2 * (sizes[dims[-1]] - 1)).stride() == expected
