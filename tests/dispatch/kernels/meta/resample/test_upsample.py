"""Shapes of interpolation: recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

import dispatch
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


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 8, 15, 16])
def test_on_cuda_few_channels_stay_last_only_where_the_nearest_is_taken(channels: int) -> None:
    sizes, wanted = (2, channels, 3, 5), (2, channels, 4, 4)
    last, plain = rules.channels_last_strides(wanted), rules.contiguous_strides(wanted)
    with dispatch.FakeTensorMode():
        x = ops.aten.empty_strided(sizes, rules.channels_last_strides(sizes), device="cuda")
        nearest = ops.aten.upsample_nearest2d(x, [4, 4]).stride()
        linear = ops.aten.upsample_bilinear2d(x, [4, 4], False).stride()
    assert nearest == (plain if channels == 1 else last)
    assert linear == (last if channels >= 16 else plain)


@pytest.mark.parametrize("sizes", [(1, 3, 4, 4), (2, 2, 4, 4), (1, 2, 4, 5), (1, 2, 5, 4)])
def test_gradient_must_have_the_output_s_size(sizes: Ints) -> None:
    with pytest.raises(RuntimeError, match=r"grad_output.*output_size"):
        ops.aten.upsample_nearest1d_backward(meta((1, 2, 4)), [5], [1, 2, 3])
    with pytest.raises(RuntimeError, match=r"grad_output.*output_size"):
        ops.aten.upsample_nearest2d_backward(meta(sizes), [4, 4], [1, 2, 3, 3])


def test_a_batch_may_be_empty_and_channels_may_not() -> None:
    assert ops.aten.upsample_nearest2d(tensor((0, 2, 3, 3)), [4, 4]).shape == (0, 2, 4, 4)
    with pytest.raises(RuntimeError, match="only the batch"):
        ops.aten.upsample_nearest2d(tensor((1, 0, 3, 3)), [4, 4])


def test_without_data_a_single_pixel_lies_as_one_that_was_converted() -> None:
    sizes, strides = (2, 4, 1, 1), (4, 1, 4, 4)
    assert ops.aten.upsample_bilinear2d(tensor(sizes, strides), [1, 1], False).stride() == strides
    made = ops.aten.upsample_bilinear2d(meta(sizes, strides), [1, 1], False)
    assert made.stride() == (4, 1, 1, 1)


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
