"""The driver of reductions: any strides and dimensions, every dtype, long and short rows."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import ops

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float32", "float64", "bool", "float16"]


@st.composite
def tensors(draw):
    """A tensor with steps of any sign and size, an array of its values, and dimensions of it."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    long = draw(st.sampled_from([1, 1, 40, 600]))
    sizes[draw(st.integers(0, len(sizes) - 1))] *= long
    steps = [draw(st.sampled_from([1, 1, 2])) for _ in sizes]
    order = draw(st.permutations(range(len(sizes))))
    dtype = draw(st.sampled_from(DTYPES))
    seed = draw(st.integers(0, 1000))
    base = np.random.default_rng(seed).integers(-9, 9, np.multiply(sizes, steps))
    x = dispatch.from_numpy(base).to(getattr(dispatch, dtype))
    x = x[tuple(slice(None, None, k) for k in steps)].permute(*order)
    dims = draw(st.lists(st.sampled_from(range(len(sizes))), unique=True, min_size=1))
    if draw(st.booleans()):
        x = x[:1].expand(3, *x.shape[1:])
    return x, x.numpy(), dims


@settings(deadline=None, max_examples=60)
@given(tensors(), st.booleans())
def test_reductions_are_numpys(case, keepdim):
    x, array, dims = case
    axes = tuple(dims)
    wide = array.astype(np.int64) if array.dtype.kind in "iub" else array.astype(np.float64)
    for name, want in {
        "sum": wide.sum(axes, keepdims=keepdim),
        "any": (array != 0).any(axes, keepdims=keepdim),
        "all": (array != 0).all(axes, keepdims=keepdim),
        "amax": array.max(axes, keepdims=keepdim),
        "amin": array.min(axes, keepdims=keepdim),
    }.items():
        got = getattr(dispatch, name)(x, dims, keepdim).numpy()
        with np.errstate(over="ignore"):  # a sum of halves may have none
            want = want.astype(got.dtype).astype(np.float64)
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=2e-3)
    dim = dims[0]
    for name, find in (("max", np.argmax), ("min", np.argmin)):
        values, places = getattr(dispatch, name)(x, dim, keepdim)
        want = find(array, axis=dim, keepdims=keepdim)
        np.testing.assert_array_equal(places.numpy(), want)
        picked = np.take_along_axis(array, want if keepdim else np.expand_dims(want, dim), dim)
        np.testing.assert_array_equal(values.numpy().ravel(), picked.ravel())
    if array.dtype != bool:
        assert x.argmax().item() == array.argmax()
    got = ops.aten.count_nonzero.dim_IntList(x, dims).numpy()
    np.testing.assert_array_equal(got, np.count_nonzero(array, axis=axes))


@settings(deadline=None, max_examples=40)
@given(tensors(), st.sampled_from([0, 1, 2, 3, float("inf"), -float("inf")]))
def test_moments_and_norms_are_numpys(case, order):
    x, array, dims = case
    x, wide, axes = x.double(), array.astype(np.float64), tuple(dims)
    variance, mean = dispatch.var_mean(x, dims, correction=0)
    np.testing.assert_allclose(variance.numpy(), wide.var(axes), atol=1e-9)
    np.testing.assert_allclose(mean.numpy(), wide.mean(axes), atol=1e-12)
    magnitudes = np.moveaxis(np.abs(wide), axes, range(len(axes)))
    rows = magnitudes.reshape(-1, *magnitudes.shape[len(axes) :])
    if np.isinf(order):
        want = rows.max(0) if order > 0 else rows.min(0)
    else:
        want = (rows != 0).sum(0) if order == 0 else (rows**order).sum(0) ** (1 / order)
    got = ops.aten.linalg_vector_norm(x, order, dims).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("dim", [0, 1])
def test_long_sums_of_float32_keep_their_precision(dim):
    x = dispatch.full([1 << 12, 1 << 8], 0.1).contiguous()
    for values in (x, x.t()):
        total = values.sum(dim)
        want = np.float32(0.1).astype(np.float64) * values.shape[dim]
        np.testing.assert_allclose(total.numpy(), want, rtol=1e-7)


def test_infinities_do_not_become_nan_in_long_sums():
    x = dispatch.ones(5000)
    x[10] = float("inf")
    assert x.sum().item() == float("inf")
    x[4000] = float("-inf")
    assert np.isnan(x.sum().item())


@pytest.mark.parametrize("size", [5, 100, 3000])
def test_nan_wins_and_its_first_place_counts(size):
    x = dispatch.zeros(size, dtype=dispatch.float64)
    x[2], x[4] = float("nan"), float("nan")
    for pick in (dispatch.max, dispatch.min):
        value, place = pick(x, 0)
        assert np.isnan(value.item())
        assert place.item() == 2
    columns = x.view(-1, 1).expand(size, 20)
    assert columns.max(0)[1].tolist() == [2] * 20
    assert np.isnan(columns.amin(0).numpy()).all()


def test_hash_is_the_exclusive_or_of_all_bits():
    x = dispatch.tensor([1.5, -2.0, 3.0])
    want = np.bitwise_xor.reduce(np.array([1.5, -2.0, 3.0]).view(np.uint64))
    assert x.hash_tensor().item() == want
    assert dispatch.tensor([5, 3], dtype=dispatch.int8).hash_tensor().item() == 6
    with pytest.raises(RuntimeError, match="mode to be 0"):
        x.hash_tensor(mode=1)
    with pytest.raises(RuntimeError, match="Expected reduction dim"):
        dispatch.empty(0).hash_tensor()


@pytest.mark.parametrize("dtype", ["int32", "bfloat16", "float64"])
def test_places_count_on_over_blocks_of_columns(dtype):
    """Rows of columns are converted a few at a time."""
    array = np.random.default_rng(1).permutation(40 * 20).reshape(40, 20) % 200
    x = dispatch.from_numpy(array).to(getattr(dispatch, dtype))
    np.testing.assert_array_equal(x.argmax(0).numpy(), array.argmax(0))
    np.testing.assert_array_equal(x.min(0)[1].numpy(), array.argmin(0))


def test_a_hash_of_columns_is_the_exclusive_or_of_each():
    x = np.arange(24).reshape(4, 6) * 7919
    hashes = dispatch.ops.aten.hash_tensor(dispatch.tensor(x.tolist()), [0])
    assert hashes.tolist() == np.bitwise_xor.reduce(x, 0).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_rows_of_every_length_end_where_they_end(dtype):
    """What lies beside a row is not added, nor anything of it twice."""
    strange = (1 << 40, 1 << 40) if dtype == "int64" else (np.nan, np.inf)
    aten = ops.aten
    for n in [*range(1, 41), 63, 64, 65, 71, 79, 127, 135]:
        values = np.random.default_rng(n).integers(-9, 10, (3, 4, 2, n + 3)).astype(dtype)
        inner = values[..., 1:-2].copy()
        values[..., 0], values[..., -2:] = strange
        x = dispatch.from_numpy(values)[..., 1:-2]
        for dims in (3,), (1, 3), (0, 2, 3), (0, 1, 2, 3):
            assert aten.sum.dim_IntList(x, dims).tolist() == inner.sum(dims).tolist()
            assert aten.count_nonzero(x, dims).tolist() == (inner != 0).sum(dims).tolist()
            if dtype != "int64":
                assert aten.linalg_vector_norm(x, 1, dims).tolist() == abs(inner).sum(dims).tolist()
                want = np.sqrt((inner.astype("float64") ** 2).sum(dims)).astype(dtype)
                assert aten.linalg_vector_norm(x, 2, dims).tolist() == want.tolist()


def test_a_nan_in_the_vector_that_ends_a_row_counts_once():
    for n in range(9, 24):
        values = np.ones((2, 3, n), "float32")
        values[1, 1, n - 9 :] = np.nan
        x = dispatch.from_numpy(values)
        assert ops.aten.nansum(x, [2]).tolist() == [[n, n, n], [n, n - 9, n]]
        assert ops.aten.nansum(x, [0, 2]).tolist() == [2 * n, 2 * n - 9, 2 * n]
        assert ops.aten.sum(x, [0, 2]).isnan().tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("rows", [3, 4, 9, 18])
def test_columns_are_multiplied_in_the_order_of_their_rows(dtype, rows):
    values = np.random.default_rng(rows).integers(1, 4, (rows, 70)).astype(dtype)
    assert ops.aten.prod.dim_int(dispatch.from_numpy(values), 0).tolist() == values.prod(0).tolist()
    big = np.array([1e30, 1e30, 1e-30, 1e-30, 2], "float32")[:, None].repeat(9, 1)
    assert ops.aten.prod.dim_int(dispatch.from_numpy(big), 0).tolist() == [np.inf] * 9


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("n", [7, 127, 128, 255, 256, 257, 391, 1000])
def test_products_of_halves_have_each_factor_once(dtype, n):
    kind = getattr(dispatch, dtype)
    x = dispatch.ones(n, n).to(kind)
    x[range(n), range(n)] = 2
    x[:, 0] *= 3
    want = [6.0] * n
    assert ops.aten.prod(x, 1).tolist() == want
    assert ops.aten.prod(x.t(), 0).tolist() == want
    assert ops.aten.prod(x.t()[:, ::2], 0).tolist() == want[::2]
    assert ops.aten.prod(x[n // 2]).item() == 6
