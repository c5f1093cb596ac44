"""Sizes, layouts and checks of pooling (recorded from PyTorch 2.13)."""

from __future__ import annotations

import pytest

from dispatch._C import dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.pool import pooling as pool

Ints = tuple[int, ...]

STORAGE = _new_storage(1 << 16)


def tensor(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return core._new_strided(STORAGE, dtype, sizes, strides, 0)


def max2d(x: core.Tensor, *given: object) -> tuple[pool.TensorSpec, pool.TensorSpec]:
    defaults = ([2], [], [0], [1], False)
    return pool.max_pool2d(x, *given, *defaults[len(given) :]).specs


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (([2],), (2, 3, 4, 4)),
        (([3, 2], [2, 1]), (2, 3, 4, 8)),
        (([3], [2], [1]), (2, 3, 5, 5)),
        (([2], [2], [0], [1], True), (2, 3, 5, 5)),
        (([2], [2], [1], [1], True), (2, 3, 5, 5)),          # no window begins in the padding
        (([2], [1], [0], [3]), (2, 3, 6, 6)),
    ],
)
def test_output_sizes(given: tuple[object, ...], sizes: Ints) -> None:
    values, indices = max2d(tensor((2, 3, 9, 9)), *given)
    assert values.sizes == indices.sizes == sizes
    assert indices.dtype is dtypes.int64


def test_results_keep_channels_last() -> None:
    x = tensor((2, 3, 8, 8), rules.channels_last_strides((2, 3, 8, 8)))
    wanted = rules.channels_last_strides((2, 3, 4, 4))
    assert [spec.strides for spec in max2d(x)] == [wanted, wanted]
    assert pool.adaptive_avg_pool(x, [4, 4]).strides == wanted
    assert pool.avg_pool2d(x, [2], [], [0], False, True, None).specs.strides == wanted


def test_average_in_three_dimensions_is_contiguous() -> None:
    x = tensor((2, 3, 4, 4, 4), rules.channels_last_strides((2, 3, 4, 4, 4)))
    assert pool.avg_pool3d(x, [2], [], [0], False, True, None).specs.strides is None
    values, _ = pool.max_pool3d(x, [2], [], [0], [1], False).specs
    assert values.strides == rules.channels_last_strides((2, 3, 2, 2, 2))


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


def test_too_few_dimensions_are_an_index_error() -> None:
    with pytest.raises(IndexError, match=r"^aten::max_pool2d_with_indices: "):
        ops.aten.max_pool2d_with_indices(tensor((8, 8)), [2])


def test_an_empty_batch_is_pooled() -> None:
    assert max2d(tensor((0, 3, 8, 8)))[0].sizes == (0, 3, 4, 4)


def test_average_checks_divisor_and_dtype() -> None:
    with pytest.raises(RuntimeError, match="divisor_override"):
        pool.avg_pool2d(tensor((1, 8, 8)), [2], [], [0], False, True, 0)
    storage = _new_storage(64, "meta")       # a real tensor's dtype is the CPU body's matter
    with pytest.raises(RuntimeError, match="uint8"):
        x = core._new_strided(storage, dtypes.uint8, (1, 8, 8), (64, 8, 1), 0)
        pool.avg_pool2d(x, [2], [], [0], False, True, None)


def test_backward_wants_a_gradient_of_the_output() -> None:
    x, right, wrong = tensor((2, 3, 8, 8)), tensor((2, 3, 4, 4)), tensor((2, 3, 4, 5))
    args = ([2], [2], [0], False, True, None)
    assert pool.avg_pool2d_backward(right, x, *args).specs.sizes == (2, 3, 8, 8)
    with pytest.raises(RuntimeError, match="grad_output must have sizes"):
        pool.avg_pool2d_backward(wrong, x, *args)


def test_adaptive_checks_dimensions_and_elements() -> None:
    with pytest.raises(RuntimeError, match="3 or 4 dimensions"):
        pool.adaptive_avg_pool(tensor((8, 8)), [2, 2])
    with pytest.raises(RuntimeError, match="elements"):
        pool.adaptive_avg_pool(tensor((2, 3, 0, 8)), [2, 2])


def test_bodies_get_the_windows() -> None:
    given = pool.max_pool2d(tensor((2, 3, 9, 9)), [3, 2], [2, 1], [1], [1], False)
    assert given.handed == ([pool.Window(3, 2, 1, 1), pool.Window(2, 1, 1, 1)],)


def test_backward_of_a_maximum_wants_one_dtype_and_indices_of_the_output() -> None:
    x, right = tensor((2, 3, 8, 8)), tensor((2, 3, 4, 4))
    args = ([2], [2], [0], [1], False)
    assert pool.max_pool2d_backward(right, x, *args, right).sizes == (2, 3, 8, 8)
    double = tensor((2, 3, 4, 4), dtype=dtypes.float64)
    with pytest.raises(RuntimeError, match=r"grad_output must be .*float32"):
        pool.max_pool2d_backward(double, x, *args, right)
    for wrong in (tensor((2, 3, 4, 5)), tensor((3, 4, 4))):
        with pytest.raises(RuntimeError, match="indices must have sizes"):
            pool.max_pool2d_backward(right, x, *args, wrong)
        with pytest.raises(RuntimeError, match="grad_output must have sizes"):
            pool.max_pool2d_backward(wrong, x, *args, right)


def test_backward_of_an_adaptive_average() -> None:
    x, grad = tensor((2, 3, 8, 8)), tensor((2, 3, 4, 4))
    assert pool.adaptive_avg_pool_backward(grad, x).sizes == (2, 3, 8, 8)
    assert pool.adaptive_avg_pool_backward(tensor((0, 3, 4, 4)), x).sizes == (2, 3, 8, 8)
    last = tensor((2, 3, 8, 8), rules.channels_last_strides((2, 3, 8, 8)))
    assert pool.adaptive_avg_pool_backward(grad, last).strides == last.stride()
    wrong = {
        "only the batch": tensor((2, 0, 4, 4)),
        "3 or 4 dimensions": tensor((4, 4)),
        "grad_output must be": tensor((2, 3, 4, 4), dtype=dtypes.float64),
    }
    for problem, given in wrong.items():
        with pytest.raises(RuntimeError, match=problem):
            pool.adaptive_avg_pool_backward(given, x)


def test_an_adaptive_output_may_be_empty_and_not_negative() -> None:
    assert pool.adaptive_avg_pool(tensor((2, 3, 8, 8)), [0, 2]).sizes == (2, 3, 0, 2)
    with pytest.raises(RuntimeError, match="negative"):
        pool.adaptive_avg_pool(tensor((2, 3, 8, 8)), [-1, 2])
