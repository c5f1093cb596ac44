"""Sizes, layouts and checks of pooling (recorded from PyTorch 2.13)."""

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


def meta(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return ops.aten.empty_strided(sizes, strides, dtype=dtype, device="meta")


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (([2],), (2, 3, 4, 4)),
        (([3, 2], [2, 1]), (2, 3, 4, 8)),
        (([3], [2], [1]), (2, 3, 5, 5)),
        (([2], [2], [0], [1], True), (2, 3, 5, 5)),
        (([2], [2], [1], [1], True), (2, 3, 5, 5)),  # no window begins in the padding
        (([2], [1], [0], [3]), (2, 3, 6, 6)),
    ],
)
def test_output_sizes(given: tuple[object, ...], sizes: Ints) -> None:
    values, indices = ops.aten.max_pool2d_with_indices(meta((2, 3, 9, 9)), *given)
    assert values.shape == indices.shape == sizes
    assert indices.dtype is dtypes.int64


def test_results_keep_channels_last() -> None:
    x = meta((2, 3, 8, 8), rules.channels_last_strides((2, 3, 8, 8)))
    wanted = rules.channels_last_strides((2, 3, 4, 4))
    for result in (
        *ops.aten.max_pool2d_with_indices(x, [2]),
        *ops.aten.adaptive_max_pool2d(x, [4, 4]),
        ops.aten._adaptive_avg_pool2d(x, [4, 4]),
        ops.aten.avg_pool2d(x, [2]),
    ):
        assert result.stride() == wanted


def test_average_in_three_dimensions_is_contiguous() -> None:
    x = meta((2, 3, 4, 4, 4), rules.channels_last_strides((2, 3, 4, 4, 4)))
    assert ops.aten.avg_pool3d(x, [2]).is_contiguous()
    values, _ = ops.aten.max_pool3d_with_indices(x, [2])
    assert values.stride() == rules.channels_last_strides((2, 3, 2, 2, 2))


@pytest.mark.parametrize(
    ("sizes", "given"),
    [
        ((2, 3, 8, 8), ([0],)),
        ((2, 3, 8, 8), ([2], [0])),
        ((2, 3, 8, 8), ([2], [-1])),
        ((2, 3, 8, 8), ([2], [2], [2])),
        ((2, 3, 8, 8), ([2], [2], [-1])),
        ((2, 3, 8, 8), ([2], [2], [0], [0])),
        ((2, 3, 8, 8), ([3], [1], [2], [2])),  # half the kernel, however far apart its places are
        ((2, 3, 8, 8), ([2, 2, 2],)),
        ((2, 0, 8, 8), ([2],)),
        ((2, 3, 1, 8), ([2],)),
        ((2, 3, 4, 8, 8), ([2],)),
    ],
)
def test_wrong_arguments_raise(sizes: Ints, given: tuple[object, ...]) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::max_pool2d_with_indices: "):
        ops.aten.max_pool2d_with_indices(tensor(sizes), *given)


def test_too_few_dimensions_are_an_index_error_on_meta() -> None:
    with pytest.raises(IndexError, match=r"^aten::max_pool2d_with_indices: "):
        ops.aten.max_pool2d_with_indices(meta((8, 8)), [2])
    with pytest.raises(RuntimeError, match=r"^aten::max_pool2d_with_indices: "):
        ops.aten.max_pool2d_with_indices(tensor((8, 8)), [2])


def test_an_empty_batch_is_pooled() -> None:
    assert ops.aten.max_pool2d_with_indices(meta((0, 3, 8, 8)), [2])[0].shape == (0, 3, 4, 4)


def test_average_checks_divisor_and_dtype() -> None:
    with pytest.raises(RuntimeError, match="divisor_override"):
        ops.aten.avg_pool2d(tensor((1, 8, 8)), [2], [], [0], False, True, 0)
    with pytest.raises(RuntimeError, match="uint8"):  # a real tensor's is the CPU body's matter
        ops.aten.avg_pool2d(meta((1, 8, 8), dtype=dtypes.uint8), [2])


def test_backward_wants_a_gradient_of_the_output() -> None:
    x, right, wrong = meta((2, 3, 8, 8)), meta((2, 3, 4, 4)), meta((2, 3, 4, 5))
    args = ([2], [2], [0], False, True, None)
    assert ops.aten.avg_pool2d_backward(right, x, *args).shape == (2, 3, 8, 8)
    with pytest.raises(RuntimeError, match="grad_output must have sizes"):
        ops.aten.avg_pool2d_backward(wrong, x, *args)


def test_adaptive_checks_dimensions_and_elements() -> None:
    with pytest.raises(RuntimeError, match="3 or 4 dimensions"):
        ops.aten._adaptive_avg_pool2d(meta((8, 8)), [2, 2])
    with pytest.raises(RuntimeError, match="elements"):
        ops.aten._adaptive_avg_pool2d(tensor((2, 3, 0, 8)), [2, 2])


def test_backward_of_a_maximum_wants_one_dtype_and_indices_of_the_output() -> None:
    x, right = meta((2, 3, 8, 8)), meta((2, 3, 4, 4))
    args = ([2], [2], [0], [1], False)
    backward = ops.aten.max_pool2d_with_indices_backward
    assert backward(right, x, *args, right).shape == (2, 3, 8, 8)
    with pytest.raises(RuntimeError, match=r"grad_output must be .*float32"):
        backward(meta((2, 3, 4, 4), dtype=dtypes.float64), x, *args, right)
    for wrong in (meta((2, 3, 4, 5)), meta((3, 4, 4))):
        with pytest.raises(RuntimeError, match="indices must have sizes"):
            backward(right, x, *args, wrong)
        with pytest.raises(RuntimeError, match="grad_output must have sizes"):
            backward(wrong, x, *args, right)


def test_backward_of_an_adaptive_average() -> None:
    x, grad = meta((2, 3, 8, 8)), meta((2, 3, 4, 4))
    backward = ops.aten._adaptive_avg_pool2d_backward
    assert backward(grad, x).shape == (2, 3, 8, 8)
    assert backward(meta((0, 3, 4, 4)), x).shape == (2, 3, 8, 8)
    last = meta((2, 3, 8, 8), rules.channels_last_strides((2, 3, 8, 8)))
    assert backward(grad, last).stride() == last.stride()
    wrong = {
        "only the batch": meta((2, 0, 4, 4)),
        "3 or 4 dimensions": meta((4, 4)),
        "grad_output must be": meta((2, 3, 4, 4), dtype=dtypes.float64),
    }
    for problem, given in wrong.items():
        with pytest.raises(RuntimeError, match=problem):
            backward(given, x)


def test_an_adaptive_output_may_be_empty_and_not_negative() -> None:
    assert ops.aten._adaptive_avg_pool2d(meta((2, 3, 8, 8)), [0, 2]).shape == (2, 3, 0, 2)
    with pytest.raises(RuntimeError, match="negative"):
        ops.aten._adaptive_avg_pool2d(meta((2, 3, 8, 8)), [-1, 2])


@pytest.mark.parametrize(
    ("samples", "dtype", "problem"),
    [((2, 3, 3), dtypes.float32, "random_samples"), ((2, 3, 2), dtypes.float64, "float32")],
)
def test_fractional_pools_want_a_sample_for_each_plane(
    samples: Ints, dtype: dtypes.dtype, problem: str
) -> None:
    with pytest.raises(RuntimeError, match=problem):
        ops.aten.fractional_max_pool2d(
            meta((2, 3, 8, 8)), [2, 2], [4, 4], meta(samples, dtype=dtype)
        )


def test_unpooling_wants_indices_of_the_input() -> None:
    x, at = meta((2, 3, 4, 4)), meta((2, 3, 4, 4), dtype=dtypes.int64)
    assert ops.aten.max_unpool2d(x, at, [8, 8]).shape == (2, 3, 8, 8)
    with pytest.raises(RuntimeError, match="int64"):
        ops.aten.max_unpool2d(x, x, [8, 8])
    with pytest.raises(RuntimeError, match="indices"):
        ops.aten.max_unpool2d(x, meta((2, 3, 4), dtype=dtypes.int64), [8, 8])


def test_gradients_of_other_channels_do_not_fit() -> None:
    """PyTorch looks at all dimensions but the batch."""
    given = ([2], [2], [0], [1], False)
    with pytest.raises(RuntimeError, match="grad_output must have sizes"):
        ops.aten.max_pool2d_with_indices_backward(
            meta((2, 4, 2, 2)), meta((2, 3, 4, 4)), *given, meta((2, 4, 2, 2), dtype=dtypes.int64)
        )


@pytest.mark.parametrize("sizes", [(1, 2, 2, 3, 3), (1, 2, 3, 2, 3), (2, 3, 3, 2)])
def test_averages_of_volumes_smaller_than_their_kernel_are_refused(sizes: Ints) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::avg_pool3d: "):
        ops.aten.avg_pool3d(tensor(sizes), [3, 3, 3], [1], [1])


@pytest.mark.parametrize(
    ("sizes", "strides", "wanted"),
    [
        ((3, 4, 5, 6), (1, 90, 18, 3), (1, 18, 9, 3)),
        ((3, 4, 5, 6), (120, 30, 6, 1), (12, 6, 3, 1)),
        ((3, 4, 5, 6), (2, 180, 36, 6), (12, 6, 3, 1)),  # with gaps
        ((1, 4, 5, 6), (1, 30, 6, 1), (12, 6, 3, 1)),  # both formats
    ],
)
def test_maxima_of_a_volume_keep_channels_that_lie_innermost(
    sizes: Ints, strides: Ints, wanted: Ints
) -> None:
    values, indices = ops.aten.max_pool3d_with_indices(tensor(sizes, strides), [2])
    assert values.stride() == indices.stride() == wanted
    values, indices = ops.aten.max_pool3d_with_indices(meta(sizes, strides), [2])
    assert values.stride() == indices.stride() == (12, 6, 3, 1)


def test_an_unpooled_output_that_is_given_is_laid_out_anew() -> None:
    x, places = tensor((1, 2, 1, 1)), tensor((1, 2, 1, 1), dtype=dtypes.int64)
    out = tensor((1, 2, 3, 2), (24, 12, 4, 2))
    assert ops.aten.max_unpool2d.out(x, places, [3, 2], out=out).stride() == (12, 6, 2, 1)
