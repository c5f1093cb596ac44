"""Slices along a dimension, flat elements, masks, places: numpy's, for any strides."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def cube(transposed: bool, dtype: str = "float32") -> dispatch.Tensor:
    x = dispatch.arange(24).to(getattr(dispatch, dtype)).reshape(2, 3, 4)
    return x.permute(2, 0, 1) if transposed else x


def moved(x: np.ndarray, dim: int) -> np.ndarray:
    return np.moveaxis(x, dim, 0)


@given(st.booleans(), st.integers(-3, 2), st.lists(st.integers(0, 1), max_size=4),
       st.sampled_from(["float32", "int64", "bfloat16"]))  # fmt: skip
def test_added_copied_filled(transposed: bool, dim: int, index: list[int], dtype: str) -> None:
    x = cube(transposed, dtype)
    where = dispatch.tensor(index, dtype=dispatch.int64)
    source = x.index_select(dim, where) + 1
    mine = x.to(dispatch.float32).numpy()
    added, copied, filled = mine.copy(), mine.copy(), mine.copy()
    np.add.at(moved(added, dim), index, moved(source.to(dispatch.float32).numpy(), dim) * 2)
    moved(copied, dim)[index] = moved(source.to(dispatch.float32).numpy(), dim)
    moved(filled, dim)[index] = 7
    for got, expected in (
        (x.index_add(dim, where, source, alpha=2), added),
        (x.index_copy(dim, where, source), copied),
        (x.index_fill(dim, where, 7), filled),
    ):
        np.testing.assert_array_equal(got.to(dispatch.float32).numpy(), expected)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_reduced_slices(reduce: str, include_self: bool) -> None:
    x = dispatch.tensor([[1.0, 8.0], [2.0, 3.0], [9.0, 9.0]])
    index = dispatch.tensor([0, 1, 0])
    source = dispatch.tensor([[3.0, 4.0], [5.0, 7.0], [2.0, 6.0]])
    got = x.index_reduce(0, index, source, reduce, include_self=include_self).tolist()
    step = {"prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[reduce]
    rows = x.numpy()
    for row, arrived in ((0, source.numpy()[[0, 2]]), (1, source.numpy()[[1]])):
        all_of_it = np.concatenate([rows[row : row + 1], arrived]) if include_self else arrived
        assert got[row] == pytest.approx(step(all_of_it, 0).tolist())
    assert got[2] == [9, 9]
    with pytest.raises(RuntimeError, match="mean, amax, amin, or prod"):
        x.index_reduce(0, index, source, "sum")


@given(st.booleans(), st.lists(st.integers(-24, 23), min_size=1, max_size=6))
def test_elements_counted_as_in_one_dimension(transposed: bool, index: list[int]) -> None:
    x = cube(transposed)
    where = dispatch.tensor(index)
    np.testing.assert_array_equal(x.take(where).numpy(), np.take(x.numpy(), index))
    values = dispatch.arange(float(len(index)))
    expected = x.numpy().copy()
    flat = expected.reshape(-1)
    np.add.at(flat, index, values.numpy())
    got = x.put(where, values, True)
    np.testing.assert_array_equal(got.numpy(), flat.reshape(expected.shape))
    with pytest.raises(IndexError, match="out of bounds"):
        x.take(dispatch.tensor([24]))


@given(st.booleans(), st.lists(st.booleans(), min_size=24, max_size=24))
def test_masks(transposed: bool, bits: list[bool]) -> None:
    x = cube(transposed)
    mask = dispatch.tensor(bits).reshape(x.shape)
    m = mask.numpy()
    np.testing.assert_array_equal(x.masked_select(mask).numpy(), x.numpy()[m])
    filled, scattered = x.numpy().copy(), x.numpy().copy()
    filled[m] = -1
    np.testing.assert_array_equal(x.masked_fill(mask, -1).numpy(), filled)
    source = dispatch.arange(100.0, 124.0)
    scattered[m] = source.numpy()[: m.sum()]
    np.testing.assert_array_equal(x.masked_scatter(mask, source).numpy(), scattered)
    np.testing.assert_array_equal(mask.nonzero().numpy(), np.argwhere(m))
    first = aten.nonzero_static(mask, size=5, fill_value=-1).tolist()
    assert first == (np.argwhere(m).tolist() + [[-1] * 3] * 5)[:5]


def test_masks_are_broadcast_and_sources_must_reach() -> None:
    x, mask = dispatch.ones(2, 3), dispatch.tensor([True, False, True])
    assert x.masked_fill(mask, 5).tolist() == [[5, 1, 5]] * 2
    assert x.masked_select(mask).tolist() == [1] * 4
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones"):
        x.masked_scatter_(mask, dispatch.zeros(3))
    assert x.tolist() == [[1] * 3] * 2


@given(
    st.lists(st.integers(0, 9), max_size=8),
    st.lists(st.integers(-1, 10), min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from(["float32", "int16", "float16"]),
)
def test_places_in_sorted_values(edges: list, values: list, right: bool, dtype: str) -> None:
    kind = getattr(dispatch, dtype)
    edges.sort()
    sorted_ = dispatch.tensor(edges, dtype=kind)
    found = aten.searchsorted(sorted_, dispatch.tensor(values, dtype=kind), right=right)
    assert found.tolist() == np.searchsorted(edges, values, "right" if right else "left").tolist()
    rows = dispatch.stack([sorted_, sorted_ + 1])
    both = dispatch.stack([dispatch.tensor(values, dtype=kind)] * 2)
    second = np.searchsorted(np.array(edges) + 1, values, "right" if right else "left")
    got = aten.searchsorted(rows, both, right=right, out_int32=True)
    assert got.dtype is dispatch.int32 and got.tolist() == [found.tolist(), second.tolist()]


def test_sorters_name_what_is_there() -> None:
    values = dispatch.tensor([5.0, 1.0, 3.0])
    found = aten.searchsorted(values, dispatch.tensor([2.0]), sorter=dispatch.tensor([1, 2, 0]))
    assert found.tolist() == [1]
    with pytest.raises(RuntimeError, match="index 3 is out of bounds"):
        aten.searchsorted(values, dispatch.tensor([2.0]), sorter=dispatch.tensor([1, 2, 3]))


@pytest.mark.parametrize(
    ("dtype", "alpha", "want"),
    [("int64", 1.5, [2, 1]), ("int64", -2.5, [-1, 1]), ("bool", 0.5, [True, True])],
)
def test_a_float_alpha_is_cut_to_the_dtype_of_integers(dtype, alpha, want):
    kind = getattr(dispatch, dtype)
    self, source = dispatch.ones(2, dtype=kind), dispatch.ones(1, dtype=kind)
    assert ops.aten.index_add(self, 0, dispatch.tensor([0]), source, alpha=alpha).tolist() == want


@pytest.mark.parametrize("kind", [dispatch.float16, dispatch.bfloat16])
@pytest.mark.parametrize("width", [1, 7, 512, 1031])
def test_rows_of_short_floats_are_added_and_rounded_one_after_the_other(kind, width):
    self, source = dispatch.randn(5, width).to(kind), dispatch.randn(4, width).to(kind)
    where = [3, 0, 3, 3]
    wanted = self.clone()
    for place, row in zip(where, source, strict=True):
        wanted[place] = (wanted[place].float() + row.float()).to(kind)
    index = dispatch.tensor(where)
    assert dispatch.equal(ops.aten.index_add(self, 0, index, source), wanted)
    turned = ops.aten.index_add(self.t(), 1, index, source.t())
    assert dispatch.equal(turned.t(), wanted)


@pytest.mark.parametrize("value", [0, dispatch.tensor(0)])
def test_an_index_is_not_filled_at_its_own_places(value):
    index = dispatch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match="unsupported operation"):
        index.index_fill_(0, index, value)
    assert index.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("sizes", "dim", "error"),
    [
        ((3,), 0, IndexError),
        ((2, 3), 0, RuntimeError),
        ((2, 3), 1, RuntimeError),
        ((2, 2, 2), 1, IndexError),
    ],
)
def test_an_index_out_of_range_of_index_add_is_told_by_the_dimension(sizes, dim, error):
    x = dispatch.zeros(sizes)
    with pytest.raises(error, match="index 7 is out of bounds"):
        x.index_add_(dim, dispatch.tensor([7]), x.narrow(dim, 0, 1) + 1)
    assert not x.any()
