"""gather and scatter are numpy's along any dimension, with indices smaller than what they index."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten
UFUNCS = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@st.composite
def calls(draw: st.DrawFn) -> tuple[dispatch.Tensor, int, np.ndarray, dispatch.Tensor]:
    """A tensor of any strides, a dimension, an index that fits, and a source."""
    ndim = draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 4)) for _ in range(ndim)]
    dim = draw(st.integers(0, ndim - 1))
    shape = [draw(st.integers(1, 6 if d == dim else n)) for d, n in enumerate(sizes)]
    n = int(np.prod(shape))
    numbers = draw(st.lists(st.integers(0, sizes[dim] - 1), min_size=n, max_size=n))
    x = dispatch.arange(1.0, 1.0 + np.prod(sizes)).reshape(sizes[::-1])
    x = x.permute(*reversed(range(ndim)))
    src = dispatch.arange(2.0, 2.0 + n).reshape(shape)
    return x, dim, np.array(numbers).reshape(shape), src


def places(index: np.ndarray, dim: int) -> tuple[np.ndarray, ...]:
    grid = list(np.indices(index.shape))
    grid[dim] = index
    return tuple(grid)


@given(calls())
def test_gather_and_scatter(call: tuple) -> None:
    x, dim, index, src = call
    where, at = dispatch.from_numpy(index), places(index, dim)
    np.testing.assert_array_equal(x.gather(dim, where).numpy(), x.numpy()[at])
    expected = x.numpy().copy()
    expected[at] = 5
    np.testing.assert_array_equal(x.scatter(dim, where, 5.0).numpy(), expected)
    expected = x.numpy().copy()
    for spot in np.ndindex(*index.shape):
        expected[tuple(a[spot] for a in at)] = src.numpy()[spot]
    np.testing.assert_array_equal(x.scatter(dim, where, src).numpy(), expected)


@given(calls(), st.sampled_from(sorted(UFUNCS)), st.sampled_from(["float64", "int32", "bfloat16"]))
def test_reductions(call: tuple, reduce: str, dtype: str) -> None:
    x, dim, index, src = call
    x, src = (t.to(getattr(dispatch, dtype)) for t in (x, src))
    got = x.scatter_reduce(dim, dispatch.from_numpy(index), src, reduce)
    expected = x.to(dispatch.float64).numpy().copy()
    UFUNCS[reduce].at(expected, places(index, dim), src.to(dispatch.float64).numpy())
    if dtype == "bfloat16":
        expected = dispatch.from_numpy(expected).to(dispatch.bfloat16).to(dispatch.float64).numpy()
    if dtype != "int32" or reduce != "prod":
        np.testing.assert_array_equal(got.to(dispatch.float64).numpy(), expected)


def test_nan_wins_and_what_nothing_arrives_at_stays() -> None:
    x = dispatch.tensor([1.0, 2.0, 3.0])
    index, src = dispatch.tensor([0, 0]), dispatch.tensor([float("nan"), 5.0])
    got = x.scatter_reduce(0, index, src, "amax", include_self=False)
    assert got.isnan().tolist() == [True, False, False] and got[1:].tolist() == [2, 3]
    assert x.scatter_reduce(0, dispatch.tensor([2]), src[1:], "mean").tolist() == [1, 2, 4]


def test_added_and_multiplied() -> None:
    x, index = dispatch.tensor([1, 2, 3]), dispatch.tensor([0, 0, 2])
    assert x.scatter(0, index, x, reduce="add").tolist() == [4, 2, 6]
    assert x.scatter(0, index, 2.5, reduce="multiply").tolist() == [4, 2, 6]
    with pytest.raises(RuntimeError, match="reduce argument must be either add or"):
        x.scatter(0, index, x, reduce="sum")


@pytest.mark.parametrize("wrong", [3, -1])
def test_indices_out_of_range_write_nothing(wrong: int) -> None:
    x, index = dispatch.tensor([1.0, 2.0, 3.0]), dispatch.tensor([0, wrong])
    for name in ("scatter_", "scatter_add_"):
        with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds"):
            getattr(x, name)(0, index, dispatch.ones(2))
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("wrong", [0, 700, 1499])
def test_one_index_of_many_chunks_is_out_of_range(wrong: int) -> None:
    """Reading checks on the way; writing in place changes nothing."""
    index = np.arange(1500) % 9
    x = dispatch.tensor(np.arange(9.0))
    assert ops.aten.gather(x, 0, dispatch.tensor(index)).tolist() == index.tolist()
    assert ops.aten.take(x, dispatch.tensor(index - 9)).tolist() == index.tolist()
    index[wrong] = 9
    bad = dispatch.tensor(index)
    with pytest.raises(RuntimeError, match="index 9 is out of bounds"):
        ops.aten.gather(x, 0, bad)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        ops.aten.take(x, bad)
    for write in (ops.aten.scatter_, ops.aten.scatter_add_):
        with pytest.raises(RuntimeError, match="index 9 is out of bounds"):
            write(x, 0, bad, dispatch.ones(1500, dtype=x.dtype))
        assert x.tolist() == list(range(9))


def test_places_in_the_whole_of_a_tensor_are_those_of_a_view():
    x = dispatch.arange(6.0).view(2, 3)
    assert dispatch.take_along_dim(x, dispatch.tensor([[4, 0]])).tolist() == [4.0, 0.0]
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        dispatch.take_along_dim(x.T, dispatch.tensor([[4, 0]]))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize(("sizes", "dim"), [((50, 9), 0), ((9, 50), 1), ((4, 30, 5), 1)])
@pytest.mark.parametrize("less", [0, 1])
def test_an_expanded_vector_of_indices_moves_whole_slices(sizes, dim, dtype, less):
    """As the same indices written out; some slices are not whole."""
    rng, kind = np.random.default_rng(0), getattr(dispatch, dtype)
    moved = [200 if d == dim else n - less for d, n in enumerate(sizes)]
    vector = dispatch.from_numpy(rng.integers(0, sizes[dim], 200))
    index = vector.view([200 if d == dim else 1 for d in range(len(sizes))]).expand(moved)
    out = index.contiguous()
    x = dispatch.from_numpy(rng.integers(0, 9, sizes)).to(kind)
    source = dispatch.from_numpy(rng.integers(0, 9, [n + less for n in moved])).to(kind)
    assert dispatch.equal(aten.gather(x, dim, index), aten.gather(x, dim, out))
    for call in (aten.scatter, aten.scatter_add):
        assert dispatch.equal(call(x, dim, index, source), call(x, dim, out, source))
    if dtype != "bool":
        for reduce in ("amax", "prod", "mean"):
            found, want = (aten.scatter_reduce(x, dim, i, source, reduce) for i in (index, out))
            assert dispatch.equal(found, want)
    wrong = dispatch.cat([vector[:-1], vector[-1:] * 0 + sizes[dim]])
    wrong = wrong.view([200 if d == dim else 1 for d in range(len(sizes))]).expand(moved)
    kept = x.clone()
    with pytest.raises(RuntimeError, match=f"index {sizes[dim]} is out of bounds for dimension"):
        x.scatter_(dim, wrong, source)
    assert dispatch.equal(x, kept)
