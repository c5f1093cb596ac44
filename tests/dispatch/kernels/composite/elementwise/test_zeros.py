"""Zeros that take no memory: what stays so, what becomes plain, what may not be written."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten


@pytest.fixture
def zeros():
    return aten._efficientzerotensor([3])


def test_products_and_views_stay_without_memory(zeros):
    x = dispatch.ones(2, 3, dtype=dispatch.float64)
    for made in (zeros * x, zeros * 2, zeros / x, zeros + zeros, zeros.view(3, 1), zeros[0]):
        assert made._is_zerotensor() and made.data_ptr() == 0
    assert (zeros * x).shape == (2, 3) and (zeros * x).dtype is dispatch.float64


def test_sums_are_copies_of_the_other_operand(zeros):
    x = dispatch.arange(3.0)
    got = x + zeros
    assert got.tolist() == [0, 1, 2] and got.data_ptr() != x.data_ptr()
    assert aten.sub(zeros, x, alpha=2).tolist() == [0, -2, -4]
    assert (zeros + dispatch.ones(2, 1)).tolist() == [[1, 1, 1]] * 2


def test_others_see_plain_zeros(zeros):
    assert zeros.exp().tolist() == [1, 1, 1]
    assert zeros.clone().fill_(2).tolist() == [2, 2, 2]
    assert dispatch.ones(3).copy_(zeros).tolist() == [0, 0, 0]


@pytest.mark.parametrize("write", ["zero_", "add_", "copy_"])
def test_they_cannot_be_written(zeros, write):
    with pytest.raises(RuntimeError, match="cannot be written"):
        getattr(zeros, write)(*([] if write == "zero_" else [dispatch.ones(3)]))
    assert zeros._is_zerotensor()
