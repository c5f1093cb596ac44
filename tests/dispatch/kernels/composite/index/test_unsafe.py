"""index and index_put as compilers write them, and the gradients of look-ups."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def test_unsafe_indices_are_numbers_and_checked_all_the_same():
    x, i = dispatch.arange(4.0), dispatch.tensor([1, 3])
    assert aten._unsafe_index(x, [i]).tolist() == [1, 3]
    with pytest.raises(RuntimeError, match="int32 or int64"):
        aten._unsafe_index(x, [x > 1])
    with pytest.raises(IndexError):
        aten._unsafe_index_put(x, [i + 9], x[:2])
    assert x.tolist() == [0, 1, 2, 3]


def test_under_a_mask_indices_may_be_anything():
    x = dispatch.arange(4.0)
    mask, index = dispatch.tensor([True, False]), dispatch.tensor([2, 99])
    assert aten._unsafe_masked_index(x, mask, [index], 7.0).tolist() == [2, 7]
    values = dispatch.tensor([10.0, 20.0])
    got = aten._unsafe_masked_index_put_accumulate(x, mask, [index], values)
    assert got.tolist() == [0, 1, 12, 3]


def test_gradients_go_back_to_where_elements_came_from():
    grad, index = dispatch.tensor([1.0, 2.0, 4.0]), dispatch.tensor([0, 0, 2])
    zeros = dispatch.zeros(3)
    assert aten.gather_backward(grad, zeros, 0, index, False).tolist() == [3, 0, 4]
    assert aten.index_select_backward(grad, [3], 0, index).tolist() == [3, 0, 4]
    mask = dispatch.tensor([True, False, True])
    assert aten.masked_select_backward(grad[:2], zeros, mask).tolist() == [1, 0, 2]
    assert aten.masked_scatter_backward(grad, mask, [3]).tolist() == [1, 4, 0]
    with pytest.raises(RuntimeError, match="room"):
        aten.masked_scatter_backward(grad, mask, [1])


def test_gradients_of_views_are_zero_elsewhere():
    grad = dispatch.tensor([1.0, 2.0])
    assert aten.diagonal_backward(grad, [2, 2], 0, 0, 1).tolist() == [[1, 0], [0, 2]]
    assert aten.select_backward(grad, [2, 2], 0, 1).tolist() == [[0, 0], [1, 2]]
    assert aten.slice_backward(grad, [4], 0, 1, 4, 2).tolist() == [0, 1, 0, 2]
    assert aten.trace_backward(grad[1], [2, 1]).tolist() == [[2], [0]]
    with pytest.raises(RuntimeError, match="matrix"):
        aten.trace_backward(grad[1], [2])
    with pytest.raises(IndexError):
        aten.select_backward(grad, [2, 2], 0, 2)
