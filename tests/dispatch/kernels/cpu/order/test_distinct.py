"""Distinct elements are numpy's, with places and counts, for every dtype."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten
KINDS = ("bool", "uint8", "int64", "float16", "bfloat16", "float64")


@given(st.lists(st.integers(0, 5), max_size=30), st.sampled_from(KINDS), st.booleans())
def test_sorted(numbers: list[int], kind: str, matrix: bool) -> None:
    x = dispatch.tensor(numbers, dtype=dispatch.int64).to(getattr(dispatch, kind))
    if matrix:
        x = dispatch.stack([x, x], 1).t()
    array = x.to(dispatch.float64).numpy()
    found, inverse, counts = aten._unique2(x, True, True, True)
    values, where, often = np.unique(array, return_inverse=True, return_counts=True)
    assert found.dtype is x.dtype
    assert found.to(dispatch.float64).tolist() == values.tolist()
    assert inverse.tolist() == where.reshape(array.shape).tolist()
    assert counts.tolist() == often.tolist()


@given(st.lists(st.integers(0, 2), max_size=20), st.sampled_from(KINDS))
def test_one_after_the_other(numbers: list[int], kind: str) -> None:
    x = dispatch.tensor(numbers, dtype=dispatch.int64).to(getattr(dispatch, kind))
    found, inverse, counts = aten.unique_consecutive(x, True, True)
    assert found.index_select(0, inverse).tolist() == x.tolist()
    assert found.repeat_interleave(counts).tolist() == x.tolist()
    runs = found.tolist()
    assert all(a != b for a, b in pairwise(runs))


def test_what_was_not_asked_for_is_empty() -> None:
    found, inverse, counts = aten._unique2(dispatch.tensor([3, 1, 3]))
    assert found.tolist() == [1, 3] and inverse.shape == counts.shape == (0,)


def test_nans_are_each_their_own() -> None:
    x = dispatch.tensor([float("nan"), 1.0, float("nan")])
    found, inverse, counts = aten._unique2(x, True, True, True)
    assert found.isnan().tolist() == [False, True, True]
    assert sorted(inverse.tolist()) == [0, 1, 2] and inverse[1].item() == 0
    assert counts.tolist() == [1, 1, 1]
    assert aten.unique_consecutive(x)[0].shape == (3,)


def test_complex_numbers_have_no_order() -> None:
    with pytest.raises(NotImplementedError, match="no CPU kernel"):
        aten._unique2(dispatch.tensor([1j]))


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("low", [0, 100])
def test_many_integers_that_lie_close_together_are_counted(kind, low):
    values = np.random.default_rng(0).integers(low, low + 90, size=(70, 80)).astype(kind)
    found = [t.numpy() for t in aten._unique2(dispatch.from_numpy(values), True, True, True)]
    wanted = np.unique(values, return_inverse=True, return_counts=True)
    assert found[0].dtype == kind
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1].reshape(70, 80))
    np.testing.assert_array_equal(found[2], wanted[2])


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=40),
    st.sampled_from(["int64", "float32", "bfloat16", "bool"]),
)
def test_slices(rows: list[list[int]], kind: str) -> None:
    """In order or as they come, with the place and number of each."""
    x = dispatch.tensor(rows).to(getattr(dispatch, kind)).t()
    want, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    found = ops.aten.unique_dim(x, 1, True, True, True)
    assert found[0].t().to(dispatch.int64).tolist() == want.tolist()
    assert (found[1].tolist(), found[2].tolist()) == (inverse.reshape(-1).tolist(), counts.tolist())
    values, places, lengths = ops.aten.unique_consecutive(x, True, True, 1)
    starts = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    assert values.t().to(dispatch.int64).tolist() == [rows[i] for i in starts]
    assert lengths.tolist() == [b - a for a, b in pairwise([*starts, len(rows)])]
    assert places.tolist() == [sum(i >= start for start in starts) - 1 for i in range(len(rows))]


def test_no_slices_along_a_dimension() -> None:
    found = ops.aten.unique_dim(dispatch.zeros(0, 3), 0)
    assert [list(t.shape) for t in found] == [[0, 3], [0], [0]]
    with pytest.raises(RuntimeError, match="no slices with elements"):
        ops.aten.unique_dim(dispatch.zeros(0, 0), 0)


def test_slices_with_nan_are_each_their_own() -> None:
    x = dispatch.tensor([[1.0, float("nan")], [1.0, float("nan")], [1.0, 2.0]])
    values, inverse, counts = ops.aten.unique_dim(x, 0, True, True, True)
    assert (inverse.tolist(), counts.tolist()) == ([1, 2, 0], [1, 1, 1])
    assert values[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("weights", [None, "float32", "float64", "int64"])
def test_counts(weights: str | None) -> None:
    numbers, shares = np.arange(90) ** 2 % 7, np.arange(90) % 5
    given_ = None if weights is None else dispatch.tensor(shares).to(getattr(dispatch, weights))
    found = ops.aten.bincount(dispatch.tensor(numbers), given_, 12)
    assert found.tolist() == np.bincount(numbers, None if weights is None else shares, 12).tolist()
    with pytest.raises(RuntimeError, match="1-d non-negative"):
        ops.aten.bincount(dispatch.tensor([1, -1]))


@pytest.mark.parametrize(("dim", "lengths"), [(0, [0, 0]), (-1, [5, 2])])
def test_a_vector_s_dimension_from_the_back_is_one_of_many(dim: int, lengths: list[int]) -> None:
    """With a dimension PyTorch gives all results; only the 0 of a vector is taken as none."""
    x = dispatch.tensor([1, 1, 1, 2, 2])
    values, *rest = ops.aten.unique_consecutive(x, False, False, dim)
    assert values.tolist() == [1, 2]
    assert [t.numel() for t in rest] == lengths


def test_each_of_many_numbers_is_counted():
    numbers = [10, *((7 * i + 5) % 10 for i in range(4999))]
    counted = ops.aten.bincount(dispatch.tensor(numbers)).tolist()
    assert counted == np.bincount(numbers).tolist()


def test_slices_need_a_dimension_and_elements():
    with pytest.raises(IndexError):
        dispatch.unique(dispatch.tensor(1), dim=0)
    for call in (dispatch.unique, dispatch.unique_consecutive):
        with pytest.raises(RuntimeError, match="no slices with elements"):
            call(dispatch.ones(2, 0), dim=0)
        assert call(dispatch.ones(0, 2), dim=0).shape == (0, 2)
