"""Gradients of picked elements and of running products."""

import pytest

import dispatch
from dispatch import ops


def test_what_was_picked_several_times_gets_all_gradients():
    x = dispatch.tensor([3.0, 1.0, 2.0])
    _, indices = x.cummax(0)
    got = ops.aten.cummaxmin_backward(dispatch.tensor([1.0, 2.0, 4.0]), x, indices, 0)
    assert got.tolist() == [7.0, 0.0, 0.0]


def test_picked_elements_get_the_gradient_at_their_places():
    got = ops.aten.value_selecting_reduction_backward(
        dispatch.tensor([5.0, 6.0]), 1, dispatch.tensor([2, 0]), [2, 3], False
    )
    assert got.tolist() == [[0.0, 0.0, 5.0], [6.0, 0.0, 0.0]]


@pytest.mark.parametrize("values", [[2.0, 3.0, 5.0], [2.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
def test_running_products_are_differentiated_with_and_without_zeros(values):
    x = dispatch.tensor(values)
    a, b, c = values
    got = ops.aten.cumprod_backward(dispatch.ones(3), x, 0, x.cumprod(0))
    assert got.tolist() == [1 + b + b * c, a + a * c, a * b]
