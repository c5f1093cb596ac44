"""Rows of a table left out by a mask."""

import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten


@pytest.mark.parametrize("kind", [dispatch.int32, dispatch.int64])
def test_rows_stay_in_order(kind):
    weight = tensor([[1.0], [2.0], [3.0]])
    kept, places = aten._rowwise_prune(weight, tensor([True, False, True]), kind)
    assert kept.tolist() == [[1], [3]]
    assert (places.tolist(), places.dtype) == ([0, -1, 1], kind)


def test_mask_has_an_element_for_each_row():
    with pytest.raises(RuntimeError, match="mask of shape"):
        aten._rowwise_prune(dispatch.ones(3, 1), tensor([True]), dispatch.int32)
