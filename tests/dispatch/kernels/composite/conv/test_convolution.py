"""conv1d, conv2d, conv3d and pools written with other operators (recorded from PyTorch 2.13)."""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops
from dispatch.fake import FakeTensorMode


def empty(*sizes: int, dtype: Any = dispatch.float32) -> Any:
    return ops.aten.empty.memory_format(list(sizes), dtype=dtype)


def channels_last(*sizes: int) -> Any:
    return ops.aten.empty.memory_format(list(sizes), memory_format=dispatch.channels_last)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unbatched_input_gives_an_unbatched_output(dims: int) -> None:
    op = getattr(ops.aten, f"conv{dims}d")
    line = (8,) * dims
    with FakeTensorMode():
        weight = empty(4, 3, *(3,) * dims)
        assert tuple(op(empty(2, 3, *line), weight).shape) == (2, 4, *(6,) * dims)
        assert tuple(op(empty(3, *line), weight).shape) == (4, *(6,) * dims)
        with pytest.raises(RuntimeError, match=rf"Expected {dims + 1}D .* input to conv{dims}d"):
            op(empty(*line), weight)


@pytest.mark.parametrize("kernel", [(3, 3), (2, 3), (1, 4)])
def test_same_padding_keeps_the_size(kernel: tuple[int, int]) -> None:
    with FakeTensorMode():
        x, w = empty(2, 3, 8, 9), empty(4, 3, *kernel)
        assert tuple(ops.aten.conv2d.padding(x, w, padding="same").shape) == (2, 4, 8, 9)
        dilated = ops.aten.conv2d.padding(x, w, padding="same", dilation=[3])
        assert tuple(dilated.shape) == (2, 4, 8, 9)


@pytest.mark.parametrize(
    ("given", "named"),
    [({"padding": "full"}, "full"), ({"padding": "same", "stride": [2]}, "stride")],
)
def test_named_padding_is_checked(given: dict[str, Any], named: str) -> None:
    with FakeTensorMode(), pytest.raises(RuntimeError, match=rf"aten::conv2d\.padding: .*{named}"):
        ops.aten.conv2d.padding(empty(2, 3, 8, 9), empty(4, 3, 3, 3), **given)


def test_channels_last_goes_through() -> None:
    with FakeTensorMode():
        out = ops.aten.conv2d(channels_last(2, 3, 8, 8), empty(4, 3, 3, 3))
        pooled = ops.aten.max_pool2d(out, [2])
        mean = ops.aten.adaptive_avg_pool2d(pooled, [1, 1])
    assert out.stride() == (144, 1, 24, 4)
    assert pooled.stride() == (36, 1, 12, 4)
    assert mean.stride() == (4, 1, 4, 4)


def test_complex_numbers_are_three_real_convolutions() -> None:
    kind = dispatch.complex64
    with FakeTensorMode():
        x, w, b = empty(3, 8, dtype=kind), empty(4, 3, 3, dtype=kind), empty(4, dtype=kind)
        out = ops.aten.conv1d(x, w, b)
    assert (tuple(out.shape), out.dtype) == ((4, 6), kind)


def test_bias_has_the_input_s_dtype() -> None:
    with FakeTensorMode(), pytest.raises(RuntimeError, match=r"conv1d: .*bias"):
        ops.aten.conv1d(empty(3, 8), empty(4, 3, 3), empty(4, dtype=dispatch.float16))


def test_pools_of_one_dimension() -> None:
    with FakeTensorMode():
        x = empty(2, 3, 8)
        assert tuple(ops.aten.avg_pool1d(x, [2]).shape) == (2, 3, 4)
        assert tuple(ops.aten.adaptive_avg_pool1d(x, [3]).shape) == (2, 3, 3)
        with pytest.raises(RuntimeError, match="avg_pool1d: Expected 2D or 3D"):
            ops.aten.avg_pool1d(empty(8), [2])


def test_scale_factors_give_the_sizes() -> None:
    with FakeTensorMode():
        x = empty(2, 3, 4, 5)
        out = ops.aten.upsample_bilinear2d.vec(x, None, True, [1.7, 2.0])
        assert tuple(out.shape) == (2, 3, 6, 10)
        assert tuple(ops.aten.upsample_nearest2d.vec(x, [3, 3], None).shape) == (2, 3, 3, 3)
        with pytest.raises(RuntimeError, match="exactly one"):
            ops.aten.upsample_nearest2d.vec(x, [3, 3], [1.0, 1.0])
