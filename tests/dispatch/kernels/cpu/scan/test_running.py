"""Scans: any strides and dimensions, dtypes, places of extremes, infinities."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import ops


@st.composite
def tensors(draw):
    """A tensor with steps of any sign and size, an array of its values, and a dimension of it."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=3))
    steps = [draw(st.sampled_from([1, 1, 2])) for _ in sizes]
    order = draw(st.permutations(range(len(sizes))))
    dtype = draw(st.sampled_from(["int32", "int64", "float32", "float64", "uint8"]))
    base = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 4, np.multiply(sizes, steps))
    x = dispatch.from_numpy(base).to(getattr(dispatch, dtype))
    x = x[tuple(slice(None, None, k) for k in steps)].permute(*order)
    return x, x.numpy(), draw(st.integers(0, len(sizes) - 1))


@settings(deadline=None, max_examples=60)
@given(tensors())
def test_scans_are_numpys(case):
    x, array, dim = case
    np.testing.assert_array_equal(x.cumsum(dim).numpy(), array.cumsum(dim))
    np.testing.assert_array_equal(x.cummax(dim)[0].numpy(), np.maximum.accumulate(array, dim))
    values, places = x.cummin(dim)
    np.testing.assert_array_equal(values.numpy(), np.minimum.accumulate(array, dim))
    np.testing.assert_array_equal(np.take_along_axis(array, places.numpy(), dim), values.numpy())
    wide = array.astype(np.float64)
    got = x.double().logcumsumexp(dim).numpy()
    np.testing.assert_allclose(got, np.logaddexp.accumulate(wide, dim), rtol=1e-12)


@pytest.mark.parametrize(
    ("sizes", "dim"),
    [((300, 37), 0), ((37, 300), 0), ((2000, 3), 0), ((2000, 3), 1), ((50, 9, 33), 1)],
)
@pytest.mark.parametrize(
    "dtype", ["float16", "int8", "int64", "complex64", "complex128", "float32"]
)
def test_large_scans_along_any_dimension_are_numpys(sizes, dim, dtype):
    kind = np.complex128 if "complex" in dtype else np.float64
    values = np.random.default_rng(0).integers(-3, 4, sizes)
    whole = dispatch.from_numpy(values).to(getattr(dispatch, dtype))
    for x in (whole, whole.transpose(0, 1).contiguous().transpose(0, 1)):
        sums = x.cumsum(dim).to(getattr(dispatch, kind.__name__)).numpy()
        np.testing.assert_array_equal(sums, values.astype(kind).cumsum(dim))
        if kind is np.float64:
            best, places = x.cummax(dim)
            np.testing.assert_array_equal(best.double().numpy(), np.maximum.accumulate(values, dim))
            found = np.take_along_axis(values, places.numpy(), dim)
            np.testing.assert_array_equal(found, best.double().numpy())


def test_last_of_equal_extremes_counts_and_nan_stays():
    x = dispatch.tensor([1.0, 3.0, 3.0, float("nan"), 5.0])
    assert x.cummax(0)[1].tolist() == [0, 1, 2, 3, 3]
    assert x.cummin(0)[1].tolist() == [0, 0, 0, 3, 3]


def test_sums_of_exponentials_take_infinities():
    inf = float("inf")
    x = dispatch.tensor([-inf, -inf, 0.0, -inf, 1000.0, inf, 0.0])
    assert x.logcumsumexp(0).tolist() == [-inf, -inf, 0.0, 0.0, 1000.0, inf, inf]
    nan = dispatch.tensor([0.0, float("nan"), 1.0]).logcumsumexp(0)
    assert nan.isnan().tolist() == [False, True, True]


@pytest.mark.parametrize("dim", [0, 1])
def test_sums_of_complex_exponentials(dim):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7, 5)) + 1j * rng.uniform(-1, 1, size=(7, 5))
    got = dispatch.from_numpy(values).logcumsumexp(dim).numpy()
    np.testing.assert_allclose(np.exp(got), np.exp(values).cumsum(dim), rtol=1e-12)
    ends = dispatch.tensor([-float("inf"), 1j, complex("nan"), 0])
    first, second, *rest = ends.logcumsumexp(0).tolist()
    assert (first.real, second) == (-float("inf"), 1j)
    assert all(np.isnan(z.real) and np.isnan(z.imag) for z in rest)


def test_the_angle_is_that_of_the_later_of_equals_and_nothing_has_none():
    minus = -float("inf")
    got = dispatch.tensor([complex(minus, 2), complex(minus, 1), 1j, -2.5j]).logcumsumexp(0)
    assert got[:3].tolist() == [minus, minus, 1j]
    assert round(got[3].item().imag, 4) == -3.8916


def test_output_may_be_self_and_half_is_rounded_once():
    x = dispatch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ops.aten.cumsum.out(x, 0, out=x) is x
    assert x.tolist() == [[1.0, 2.0], [4.0, 6.0]]
    half = dispatch.full([3000], 1.0, dtype=dispatch.float16)
    assert half.cumsum(0)[2999].item() == np.float16(3000)


def test_dtypes_without_sums_are_refused():
    with pytest.raises(NotImplementedError, match="bool"):
        dispatch.ones(3, dtype=dispatch.bool).cumsum(0, dtype=dispatch.bool)
    with pytest.raises(NotImplementedError, match="complex64"):
        dispatch.ones(3, dtype=dispatch.complex64).cummax(0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("dim", [0, 1])
def test_sums_of_16_bit_floats_are_rounded_once(dtype, dim):
    """To the nearest, ties to even; small ones, large ones and infinities too: any two patterns."""
    kind = getattr(dispatch, dtype)
    bits = np.random.default_rng(5).integers(-(2**15), 2**15, (2, 20000)).astype(np.int16)
    bits[:, :5000] &= 0x3FF  # small halves
    x = dispatch.from_numpy(bits if dim == 0 else np.ascontiguousarray(bits.T)).view(kind)
    wide = x.double()
    want = (wide.select(dim, 0) + wide.select(dim, 1)).float().to(kind)
    got = x.cumsum(dim).select(dim, 1)
    np.testing.assert_array_equal(got.float().numpy(), want.float().numpy())


def test_sums_of_float32_are_kept_in_double():
    x = dispatch.tensor([2.0**25, 1.0, 1.0, 1.0, -(2.0**25)])
    assert x.cumsum(0)[-1].item() == 3.0
    assert dispatch.stack([x, x], 1).cumsum(0)[-1].tolist() == [3.0, 3.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", "complex128"])
@pytest.mark.parametrize("dim", [0, 1])
def test_products_are_numpys(dtype, dim):
    """Along rows, and of columns side by side."""
    base = np.random.default_rng(3).integers(-2, 3, (6, 300) if dim == 0 else (300, 6))
    array = (base + 1j * base[::-1] if dtype.startswith("complex") else base).astype(dtype)
    got = dispatch.from_numpy(array).cumprod(dim).numpy()
    np.testing.assert_array_equal(got, np.cumprod(array, dim))


def test_angles_of_running_exponentials_are_not_wrapped():
    """Each step adds to the angle of the larger term (measured on PyTorch)."""
    x = dispatch.tensor([4 + 7j, 3 + 1j, complex("-inf"), 1 + 9j], dtype=dispatch.complex128)
    got = dispatch.logcumsumexp(x, 0)
    want = [4 + 7j]
    want.append(np.log1p(np.exp(-1 - 6j)) + want[0])
    np.testing.assert_allclose(got[:3].tolist(), [*want, want[1]])
    assert got[3].item().imag > 6


def test_results_in_bfloat16_are_rounded_once_to_the_nearest():
    """Halfway to the even neighbour; what is beyond the largest number is infinite."""
    inf, step = float("inf"), 2.0**-8
    pairs = {  # a pair of numbers: their sum, rounded
        (1.0, step): 1.0,
        (1.0078125, step): 1.015625,
        (1.0, 1.5 * step): 1.0078125,
        (1.0, 0.5 * step): 1.0,
        (-1.0, -step): -1.0,
        (-1.0078125, -step): -1.015625,
        (3.0e38, 3.3e38): inf,
        (inf, 1.0): inf,
    }
    x = dispatch.tensor(list(pairs)).to(dispatch.bfloat16)
    assert x.cumsum(1)[:, 1].tolist() == list(pairs.values())
    assert x.t().contiguous().cumsum(0)[1].tolist() == list(pairs.values())


@pytest.mark.parametrize("first", [[], [float("-inf")], [0.0]])
def test_nan_stays_in_sums_of_exponentials(first):
    """As the first number too, and after numbers that add nothing."""
    x = dispatch.tensor([*first, float("nan"), 0.0, 1.0])
    assert x.logcumsumexp(0)[len(first) :].isnan().all()


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "bfloat16"])
def test_long_running_extremes_and_their_places(dtype):
    x = np.random.default_rng(2).integers(0, 50, (3, 1003))
    x[1], x[2] = np.arange(1003) // 30, 40 - np.arange(1003) // 30
    t = dispatch.from_numpy(x).to(getattr(dispatch, dtype))
    for scan, best in ((dispatch.cummax, np.maximum), (dispatch.cummin, np.minimum)):
        values, places = scan(t, 1)
        wanted = best.accumulate(x, 1)
        np.testing.assert_array_equal(values.to(dispatch.int64).numpy(), wanted)
        last = np.maximum.accumulate(np.where(x == wanted, np.arange(1003), -1), 1)
        np.testing.assert_array_equal(places.numpy(), last)


def test_not_a_number_stays_the_extreme_of_a_long_row():
    x = dispatch.zeros(200)
    x[70], x[150] = float("nan"), float("nan")
    values, places = dispatch.cummax(x, 0)
    assert values[:70].tolist() == [0] * 70
    assert bool(values[70:].isnan().all())
    assert places[69:71].tolist() == [69, 70]
    assert places[[149, 150, 199]].tolist() == [70, 150, 150]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_products_along_columns(dtype):
    x = np.exp(1j * np.random.default_rng(4).uniform(-3, 3, (30, 40))).astype(dtype)
    found = dispatch.from_numpy(x).cumprod(0).numpy()
    np.testing.assert_allclose(found, x.cumprod(0), rtol=1e-4, atol=1e-5)
