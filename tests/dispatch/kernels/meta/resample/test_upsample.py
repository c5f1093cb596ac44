"""Shapes of interpolation: recorded from PyTorch 2.13."""

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


def meta(sizes: Ints, strides: Ints | None = None) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return ops.aten.empty_strided(sizes, strides, device="meta")


def test_interpolation_keeps_channels_last() -> None:
    x = meta((2, 3, 4, 4), rules.channels_last_strides((2, 3, 4, 4)))
    wanted = rules.channels_last_strides((2, 3, 8, 6))
    assert ops.aten.upsample_nearest2d(x, [8, 6]).stride() == wanted
    assert ops.aten.upsample_bilinear2d(x, [8, 6], True).stride() == wanted


def test_gradient_of_bicubic_forgets_channels_last() -> None:
    """Those of the others keep it."""
    g = meta((2, 3, 4, 4), rules.channels_last_strides((2, 3, 4, 4)))
    sizes = [2, 3, 8, 6]
    backward = ops.aten.upsample_bicubic2d_backward
    assert backward(g, [4, 4], sizes, False).is_contiguous()
    backward = ops.aten.upsample_bilinear2d_backward
    assert backward(g, [4, 4], sizes, False).stride() == rules.channels_last_strides(tuple(sizes))


def test_gradient_must_have_the_output_s_size() -> None:
    with pytest.raises(RuntimeError, match=r"grad_output.*output_size"):
        ops.aten.upsample_nearest1d_backward(meta((1, 2, 4)), [5], [1, 2, 3])


@pytest.mark.parametrize(
    ("sizes", "output"), [((3, 4, 4), [8, 8]), ((2, 3, 4, 4), [8]), ((2, 3, 4, 4), [0, 8])]
)
def test_wrong_sizes_of_interpolation(sizes: Ints, output: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::upsample_nearest2d: "):
        ops.aten.upsample_nearest2d(tensor(sizes), output)


def test_grid_sampler_takes_the_grid_s_sizes() -> None:
    x, grid = meta((2, 3, 4, 4)), meta((2, 5, 6, 2))
    assert ops.aten.grid_sampler_2d(x, grid, 0, 0, True).shape == (2, 3, 5, 6)
    with pytest.raises(RuntimeError, match="interpolation_mode"):
        ops.aten.grid_sampler_2d(x, grid, 3, 0, True)


def test_gradient_of_input_is_there_when_asked_for() -> None:
    x, grid, g = meta((2, 3, 4, 4)), meta((2, 5, 6, 2)), meta((2, 3, 5, 6))
    of_input, of_grid = ops.aten.grid_sampler_2d_backward(g, x, grid, 0, 0, True, [False, True])
    assert of_input is None and of_grid.shape == grid.shape


def test_volumes_are_not_sampled_bicubically() -> None:
    with pytest.raises(RuntimeError, match="bicubic"):
        ops.aten.grid_sampler_3d(meta((1, 1, 2, 2, 2)), meta((1, 1, 1, 1, 3)), 2, 0, True)
