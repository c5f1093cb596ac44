"""Shapes of interpolation: recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from dispatch._C import dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.resample import upsample

Ints = tuple[int, ...]

STORAGE = _new_storage(1 << 16)


def tensor(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return core._new_strided(STORAGE, dtype, sizes, strides, 0)


def test_interpolation_keeps_channels_last() -> None:
    x = tensor((2, 3, 4, 4), rules.channels_last_strides((2, 3, 4, 4)))
    wanted = rules.channels_last_strides((2, 3, 8, 6))
    assert upsample.nearest2d(x, [8, 6], None, None).strides == wanted
    assert upsample.bilinear2d(x, [8, 6], True, None, None).strides == wanted


@pytest.mark.parametrize(
    ("sizes", "output"), [((3, 4, 4), [8, 8]), ((2, 3, 4, 4), [8]), ((2, 3, 4, 4), [0, 8])]
)
def test_wrong_sizes_of_interpolation(sizes: Ints, output: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::upsample_nearest2d: "):
        ops.aten.upsample_nearest2d(tensor(sizes), output)


def test_grid_sampler_takes_the_grid_s_sizes() -> None:
    x, grid = tensor((2, 3, 4, 4)), tensor((2, 5, 6, 2))
    assert upsample.grid_sampler_2d(x, grid, 0, 0, True).sizes == (2, 3, 5, 6)
    with pytest.raises(RuntimeError, match="interpolation_mode"):
        upsample.grid_sampler_2d(x, grid, 3, 0, True)
