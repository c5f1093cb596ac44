"""sort and topk with data."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def test_nan_is_the_largest():
    x = dispatch.tensor([2.0, math.nan, -math.inf, math.inf])
    assert aten.sort(x)[1].tolist() == [2, 0, 3, 1]
    assert aten.sort(x, 0, True)[1].tolist() == [1, 3, 0, 2]
    assert aten.topk(x, 2)[1].tolist() == [1, 3]


@pytest.mark.parametrize("descending", [False, True])
def test_stable_sort_keeps_equal_elements_in_order(descending):
    x = dispatch.tensor([1.0, -0.0, 0.0, 1.0] * 10)
    order = aten.sort.stable(x, stable=True, dim=0, descending=descending)[1].tolist()
    small = [i for i in range(40) if i % 4 in (1, 2)]
    large = [i for i in range(40) if i % 4 in (0, 3)]
    assert order == (large + small if descending else small + large)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [2, 10, 16, 17])
def test_short_rows_keep_equal_elements_in_order(size, descending):
    rows = np.random.default_rng(size).integers(-3, 4, (50, size))
    order = np.argsort(-rows if descending else rows, 1, kind="stable").tolist()
    x = dispatch.from_numpy(rows)
    for t in (x, x.float()):
        found = aten.sort.stable(t, stable=True, dim=1, descending=descending)
        assert found[1].tolist() == order


def test_other_sort_leaves_equal_elements_as_recorded():
    """The first positions that PyTorch gives for 40 equal elements."""
    order = aten.sort(dispatch.zeros(40))[1].tolist()
    assert order[:11] == [30, 21, 22, 23, 24, 25, 26, 27, 28, 29, 20]
    assert sorted(order) == list(range(40))


def test_topk_of_equal_elements_is_as_recorded():
    x = dispatch.tensor([4, 4, 4, 4, 4, 4, 4, 4, 4, 4])
    values, indices = aten.topk(x, 3)
    assert values.tolist() == [4, 4, 4]
    assert len(set(indices.tolist())) == 3


def test_sort_of_a_strided_dimension():
    x = dispatch.tensor([[3, 1], [2, 5], [1, 0]])
    values, indices = aten.sort(x, 0)
    assert values.tolist() == [[1, 0], [2, 1], [3, 5]]
    assert indices.tolist() == [[2, 2], [1, 0], [0, 1]]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    ("dtype", "most"),
    [("int16", 700), ("int64", 700), ("int64", 1 << 40), ("int32", 1 << 30), ("int64", 1 << 13)],
)
def test_stable_sort_of_many_integers(dtype, most, descending):
    """Few different ones are counted, near ones packed with their places, others go by digits."""
    row = np.random.default_rng(0).integers(-most, most, 20_000).astype(dtype)
    values, order = aten.sort.stable(
        dispatch.from_numpy(row), stable=True, dim=0, descending=descending
    )
    keys = -row.astype(np.int64) if descending else row
    np.testing.assert_array_equal(order.numpy(), np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(values.numpy(), row[order.numpy()])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stable_sort_of_many_floats_into_themselves(dtype, descending):
    """-0.0 equals 0.0 and stays what it is; NaN is the largest."""
    row = np.random.default_rng(0).integers(-9, 9, 20_000).astype(dtype)
    row[::3] *= -1
    row[7::501] = np.nan
    x, places = dispatch.from_numpy(row.copy()), dispatch.empty(20_000, dtype=dispatch.int64)
    aten.sort.values_stable(x, stable=True, dim=0, descending=descending, values=x, indices=places)
    keys = np.where(np.isnan(row), np.inf, row)
    order = np.argsort(-keys if descending else keys, kind="stable")
    np.testing.assert_array_equal(places.numpy(), order)
    assert x.numpy().tobytes() == row[order].tobytes()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=200), st.data())
def test_topk_finds_the_smallest_in_order(row, data):
    k = data.draw(st.integers(1, len(row)))
    values, indices = aten.topk(dispatch.tensor(row), k, 0, False, True)
    assert values.tolist() == [row[i] for i in indices.tolist()] == sorted(row)[:k]
    assert len(set(indices.tolist())) == k


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_topk_of_few_in_a_long_row(dtype, largest):
    """Blocks without one of them are passed over; NaN is the largest."""
    row = (np.random.default_rng(1).standard_normal((3, 1000)) * 50).astype(dtype)
    if dtype.startswith("float"):
        row[1, ::97] = np.nan
    values, places = aten.topk(dispatch.from_numpy(row), 7, 1, largest, True)
    ordered = np.sort(row, 1)[:, ::-1] if largest else np.sort(row, 1)
    np.testing.assert_array_equal(values.numpy(), ordered[:, :7])
    np.testing.assert_array_equal(np.take_along_axis(row, places.numpy(), 1), ordered[:, :7])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=200))
def test_sorted_places_are_a_permutation(row):
    values, indices = aten.sort(dispatch.tensor(row))
    assert values.tolist() == [row[i] for i in indices.tolist()] == sorted(row)
    assert sorted(indices.tolist()) == list(range(len(row)))


@pytest.mark.parametrize("k", [200, 900, 1800])
def test_topk_of_what_defeats_the_median_of_three(k):
    """Musser's sequence: the partition cuts off two at a time, until heaps take over."""
    half = 1024
    killer = [0] * (2 * half)
    for i in range(1, half + 1):
        if i % 2:
            killer[i - 1], killer[i] = i, half + i
        killer[half + i - 1] = 2 * i
    for row in (killer, killer[-1:] + killer[:-1]):
        for largest in (False, True):
            values, places = aten.topk(dispatch.tensor(row), k, 0, largest, True)
            assert values.tolist() == sorted(row, reverse=largest)[:k]
            assert [row[place] for place in places.tolist()] == values.tolist()


def test_many_integers_in_one_dimension_stay_in_order_upwards():
    """Byte by byte from 32,768 on, as PyTorch: equal ones stay as they were."""
    numbers = (np.arange(1 << 15) * 7919) % 100
    order = aten.sort(dispatch.tensor(numbers))[1].numpy()
    assert np.array_equal(order, np.argsort(numbers, kind="stable"))
    short = aten.sort(dispatch.tensor(numbers[:-1]))[1].numpy()
    assert not np.array_equal(short, np.argsort(numbers[:-1], kind="stable"))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=200))
def test_mode_is_the_smallest_of_the_most_frequent_and_its_last_place(numbers):
    counts = np.bincount(numbers)
    value, place = aten.mode(dispatch.tensor(numbers))
    assert value.item() == counts.argmax()
    assert place.item() == max(i for i, n in enumerate(numbers) if n == counts.argmax())


@pytest.mark.parametrize("n", [5, 6])
def test_the_kth_value_of_every_order_is_found(n):
    rows = list(permutations(range(n)))
    x = dispatch.tensor(rows)
    for k in range(1, n + 1):
        values, places = aten.kthvalue(x, k, 1)
        assert values.tolist() == [k - 1] * len(rows)
        assert places.tolist() == [row.index(k - 1) for row in rows]
