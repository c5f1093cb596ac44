"""isin: small sets are looked at, large ones searched; NaN is in none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

aten = dispatch.ops.aten


@given(
    st.lists(st.integers(-20, 20), max_size=30),
    st.lists(st.integers(-20, 20), max_size=40),
    st.sampled_from([dispatch.int8, dispatch.int64, dispatch.float32, dispatch.bfloat16]),
    st.booleans(),
)
def test_members_of_small_and_large_sets(values, tested, kind, invert):
    got = aten.isin.Tensor_Tensor(
        dispatch.tensor(values, dtype=kind),
        dispatch.tensor(tested, dtype=dispatch.int32),
        invert=invert,
    )
    assert got.tolist() == [(v in tested) != invert for v in values]


@pytest.mark.parametrize("low", [-(2**63), -7, 2**63 - 1 - 60])
@pytest.mark.parametrize("gap", [1, 2**32])
def test_sets_of_integers_that_lie_close_together_or_far_apart(low, gap):
    tested = [low + i * gap for i in (*range(0, 40, 2), 3, 3) if low + i * gap < 2**63]
    values = [low, low + 1, low + 2, low + 3, -(2**63), 0, 2**63 - 1, 2**62]
    got = aten.isin.Tensor_Tensor(dispatch.tensor(values), dispatch.tensor(tested))
    assert got.tolist() == [v in tested for v in values]


@pytest.mark.parametrize("size", [3, 40])
def test_nan_is_in_no_set(size):
    x = dispatch.tensor([np.nan, 1.0])
    tested = dispatch.tensor([np.nan, 1.0, *range(2, size)])
    assert aten.isin.Tensor_Tensor(x, tested).tolist() == [False, True]


def test_promotion_decides_what_is_equal():
    x = dispatch.tensor([2**24 + 1])
    assert aten.isin.Tensor_Tensor(x, dispatch.tensor([float(2**24)])).tolist() == [True]
    assert aten.isin.Tensor_Tensor(x, dispatch.tensor([2**24])).tolist() == [False]


def test_numbers_on_either_side():
    assert aten.isin.Tensor_Scalar(dispatch.tensor([1, 2]), 2).tolist() == [False, True]
    assert aten.isin.Scalar_Tensor(2, dispatch.tensor([1, 2])).item() is True


def test_output_of_other_strides():
    out = dispatch.zeros(2, 2, dtype=dispatch.bool).t()
    x = dispatch.tensor([[1, 2], [3, 4]])
    aten.isin.Tensor_Tensor_out(x, dispatch.tensor([2, 3]), out=out)
    assert out.tolist() == [[False, True], [True, False]]


def test_integers_are_searched_for_a_float_as_floats():
    aten = dispatch.ops.aten
    assert aten.bucketize.Scalar(1.5, dispatch.tensor([0, 1, 2])).item() == 2
    assert aten.bucketize.Scalar(-0.5, dispatch.tensor([0, 1], dtype=dispatch.uint8)).item() == 0
    assert aten.searchsorted.Scalar(dispatch.tensor([1, 2, 3]), 2.5).item() == 2


def test_values_that_are_not_sorted_are_halved_at_pytorchs_middle():
    edges = dispatch.tensor([3.0, 1, 4, 1, 5, 9, 2, 6])
    values = dispatch.tensor([1.0, 2, 3.5, 5, 7])
    aten = dispatch.ops.aten
    assert aten.searchsorted.Tensor(edges, values).tolist() == [0, 2, 2, 4, 8]
    assert aten.searchsorted.Tensor(edges, values, right=True).tolist() == [2, 2, 2, 7, 8]
    assert aten.searchsorted.Tensor(edges[:7], values).tolist() == [0, 4, 4, 4, 5]
    assert aten.bucketize.Tensor(values, edges).tolist() == [0, 2, 2, 4, 8]
