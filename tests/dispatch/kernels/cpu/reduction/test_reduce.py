"""Reductions on the CPU that are written on numpy: values, NaN, empty input, dtypes, errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import dispatch
from dispatch import ops

aten = ops.aten
NAN, INF = math.nan, math.inf


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    if dtype == "bfloat16" or dtype == "complex32":
        return aten._to_copy(
            tensor(values, "complex64" if "c" in dtype else "float32"),
            dtype=getattr(dispatch, dtype),
        )
    return dispatch.from_numpy(np.array(values, dtype=dtype))


@pytest.fixture(autouse=True)
def no_numpy_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


# ---- mean and prod


def test_mean_of_half_precision_is_rounded_once() -> None:
    assert aten.mean(tensor([60000.0] * 5, "float16")).item() == 60000
    big = tensor([70000.0, -70000.0, 3.0])
    assert aten.mean(big, dtype=dispatch.float16).item() == 1


def test_mean_of_nothing_is_nan_and_of_integers_an_error() -> None:
    assert np.isnan(aten.mean(tensor([])).item())
    assert aten.mean.dim(aten.zeros([0, 2]), [1]).tolist() == []
    with pytest.raises(RuntimeError, match="aten::mean"):
        aten.mean(tensor([1, 2], "int64"))
    assert aten.mean.dim(
        tensor([[1, 2], [3, 6]], "int64"), [0], dtype=dispatch.float32
    ).tolist() == [2, 4]


def test_prod_widens_integers_and_keeps_a_given_dtype() -> None:
    small = tensor([20, 20], "uint8")
    assert aten.prod(small).item() == 400
    assert aten.prod(small, dtype=dispatch.uint8).item() == 144
    assert aten.prod(tensor([1.5, 2.5]), dtype=dispatch.int64).item() == 2
    assert aten.prod(tensor([1 + 2j, 3 - 1j], "complex64")).item() == 5 + 5j
    assert aten.prod.dim_int(aten.zeros([0, 2]), 0, True).tolist() == [[1, 1]]


def test_prod_in_half_precision_rounds_at_each_step() -> None:
    assert aten.prod(tensor([300, 300, 0.01], "float16")).item() == INF


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [127, 128, 129, 1000, 5003])
def test_long_products_in_half_precision(dtype: str, size: int) -> None:
    x = dispatch.from_numpy(np.where(np.arange(size) % 3, 1.0, -1.0)).to(getattr(dispatch, dtype))
    x[size // 2], x[size - 2] = 0.125, 3.0
    assert aten.prod(x).item() == np.prod(x.double().numpy())
    x[size - 1] = INF
    assert abs(aten.prod(x).item()) == INF


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_and_truth_of_many_complex_numbers(dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = np.exp(1j * rng.uniform(-3, 3, (37, 29))).astype(dtype)
    x[3, 4] = x[5, 6] = 0.5j
    x[:, 7] = 0
    x[20, 8] = 0
    t = dispatch.from_numpy(x)
    keep = [i for i in range(29) if i not in (7, 8)]
    for dim in (0, 1):
        found = aten.prod.dim_int(t[:, keep], dim).numpy()
        np.testing.assert_allclose(found, x[:, keep].prod(dim), rtol=1e-4)
        np.testing.assert_array_equal(aten.any.dim(t, dim).numpy(), x.any(dim))
        np.testing.assert_array_equal(aten.all.dim(t, dim).numpy(), x.all(dim))
        nonzero = aten.count_nonzero.dim_IntList(t, [dim]).numpy()
        np.testing.assert_array_equal(nonzero, np.count_nonzero(x, dim))
    np.testing.assert_allclose(aten.prod(t[:, keep]).item(), x[:, keep].prod(), rtol=1e-3)


def test_an_output_that_is_self_holds_the_identity() -> None:
    for name, identity in (("sum.IntList_out", 0.0), ("prod.int_out", 1.0), ("amax.out", -INF)):
        x = tensor(3.0)
        packet, overload = name.split(".")
        dim = 0 if packet == "prod" else [0]
        getattr(getattr(aten, packet), overload)(x, dim, out=x)
        assert x.item() == identity


# ---- any, all


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool", "complex64", "complex32"])
def test_any_and_all_of_every_dtype_are_bool(dtype: str) -> None:
    x = tensor([[0, 1], [1, 1]], dtype)
    assert aten.any.dim(x, 1).tolist() == [True, True]
    assert aten.all.dim(x, -1, True).tolist() == [[False], [True]]
    assert aten.all(x).dtype is dispatch.bool


def test_any_of_uint8_stays_uint8_and_nan_is_true() -> None:
    mask = tensor([2, 0], "uint8")
    assert aten.any(mask).dtype is dispatch.uint8 and aten.any(mask).item() == 1
    assert aten.any(tensor([NAN])).item() is True
    assert aten.any(tensor([])).item() is False and aten.all(tensor([])).item() is True


def test_any_over_an_empty_list_reduces_nothing() -> None:
    x = tensor([[2.0, 0.0]])
    assert aten.any.dims(x, []).tolist() == [[True, False]]
    assert aten.any.dims(x, None).item() is True


def test_an_output_of_uint8_takes_the_input_as_uint8() -> None:
    out = aten.zeros([], dtype=dispatch.uint8)
    assert aten.any.all_out(tensor([0.5]), out=out).item() == 0
    with pytest.raises(RuntimeError, match="aten::any"):
        aten.any.all_out(tensor([0.5]), out=aten.zeros([]))


# ---- extrema


def test_nan_wins_every_comparison_and_the_first_of_equals_is_found() -> None:
    x = tensor([1, NAN, 3, NAN])
    assert np.isnan(aten.max(x).item()) and np.isnan(aten.amin(x, [0]).item())
    assert aten.argmax(x).item() == aten.argmin(x).item() == 1
    values, indices = aten.max.dim(tensor([[1, 3, 3], [2, 2, 2]]), 1)
    assert values.tolist() == [3, 2] and indices.tolist() == [1, 0]


def test_indices_count_in_logical_order() -> None:
    x = aten.t(tensor([[1, 9], [5, 2]]))
    assert aten.argmax(x).item() == 2
    assert aten.argmin(x, 0, True).tolist() == [[0, 1]]


def test_extrema_of_bools_halves_and_single_values() -> None:
    flags = tensor([[True, False]], "bool")
    assert aten.amin(flags, [1]).tolist() == [False]
    assert aten.min.dim(flags, 1)[1].tolist() == [1]
    assert aten.amax(tensor([1.5, 2.5], "bfloat16"), []).item() == 2.5
    values, index = aten.max.dim(tensor(7, "int16"), 0)
    assert (values.item(), index.item()) == (7, 0)


def test_extrema_refuse_what_has_no_order_or_no_elements() -> None:
    with pytest.raises(NotImplementedError, match="aten::amax"):
        aten.amax(tensor([1j], "complex64"), [])
    with pytest.raises(RuntimeError, match="aten::argmax"):
        aten.argmax(tensor([True], "bool"))
    with pytest.raises(IndexError, match="aten::argmax"):
        aten.argmax(tensor([]))
    with pytest.raises(RuntimeError, match="aten::amax"):
        aten.amax.out(tensor([1.0]), [0], out=aten.zeros([], dtype=dispatch.float64))


@given(
    arrays.arrays(np.int32, arrays.array_shapes(min_dims=1, max_dims=3, max_side=4)),
    st.data(),
)
def test_extrema_are_numpy_s_for_integers(values: np.ndarray, data: st.DataObject) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    x = dispatch.from_numpy(values)
    assert aten.amax(x, [dim]).tolist() == values.max(dim).tolist()
    assert aten.min.dim(x, dim)[0].tolist() == values.min(dim).tolist()
    assert aten.argmin(x, dim).tolist() == values.argmin(dim).tolist()


# ---- moments


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is")
@pytest.mark.parametrize(
    ("values", "correction", "expected"),
    [
        ([1, 2], None, 0.5),
        ([1, 2], 0, 0.25),
        ([1, 2], 0.5, 1 / 3),
        ([1, 2], 2, INF),
        ([1, 1], 5, NAN),
        ([3], 1, NAN),
        ([], 1, NAN),
        ([INF, 1, 2], 1, NAN),
    ],
)
def test_var_divides_by_the_count_less_the_correction(
    values: list[float], correction: float | None, expected: float
) -> None:
    found = aten.var.correction(tensor(values), [0], correction=correction).item()
    assert found == pytest.approx(expected, nan_ok=True)
    root = aten.std.correction(tensor(values), [0], correction=correction).item()
    assert root == pytest.approx(math.sqrt(expected), nan_ok=True)


def test_moments_of_complex_numbers() -> None:
    for dtype, real in (("complex64", "float32"), ("complex32", "float16")):
        variance, mean = aten.var_mean.correction(tensor([1 + 2j, 3 - 1j], dtype))
        assert variance.dtype is getattr(dispatch, real) and variance.item() == 6.5
        assert aten._to_copy(mean, dtype=dispatch.complex64).item() == 2 + 0.5j


def test_var_keeps_its_precision_far_from_zero() -> None:
    x = tensor(np.arange(1000) % 2 + 1e6)
    assert aten.var.correction(x, None, correction=0, keepdim=True).tolist() == [0.25]


# ---- norms and histograms


@pytest.mark.parametrize(
    ("order", "expected"),
    [(0, 3), (1, 6), (2, math.sqrt(14)), (3, 36 ** (1 / 3)), (INF, 3), (-INF, 0), (-1, 0)],
)
def test_norms_of_every_order(order: float, expected: float) -> None:
    x = tensor([[1, -2, 0, 3]])
    assert aten.linalg_vector_norm(x, order).item() == pytest.approx(expected)
    assert aten.linalg_vector_norm(x, order, [1], True).tolist() == [[pytest.approx(expected)]]


def test_norms_of_one_element_nothing_complex_and_other_dtypes() -> None:
    assert aten.linalg_vector_norm(tensor(-3.0), 5).item() == 3
    assert aten.linalg_vector_norm(tensor([]), 2).item() == 0
    assert aten.linalg_vector_norm(tensor([3 + 4j, 0], "complex64"), 1).item() == 5
    assert aten.linalg_vector_norm(tensor([300, 400], "float16")).item() == 500
    wide = aten.linalg_vector_norm(tensor([3e30, 4e30]), dtype=dispatch.float64)
    assert wide.dtype is dispatch.float64 and wide.item() == pytest.approx(5e30)
    with pytest.raises(RuntimeError, match=r"aten::linalg_vector_norm.*ord"):
        aten.linalg_vector_norm(tensor([1.0]), 1j)


def test_histc_counts_what_lies_in_the_range() -> None:
    x = tensor([0, 1, 2, 3, 4])
    assert aten.histc(x, 4).tolist() == [1, 1, 1, 2]
    assert aten.histc(x, 4, 1, 3).tolist() == [1, 0, 1, 1]
    assert aten.histc(tensor([2, 2]), 4).tolist() == [0, 0, 2, 0]
    assert aten.histc(tensor([2, NAN]), 4, 0, 3).tolist() == [0, 0, 1, 0]
    assert aten.histc(tensor([]), 2).tolist() == [0, 0]


def test_histc_refuses_ranges_without_end() -> None:
    for values, limits in (([2, NAN], (0, 0)), ([2, INF], (0, 0)), ([1, 2], (-INF, 3))):
        with pytest.raises(RuntimeError, match="aten::histc"):
            aten.histc(tensor(values), 4, *limits)
    with pytest.raises(NotImplementedError, match="aten::histc"):
        aten.histc(tensor([1, 2], "int64"), 4)


def test_sums_of_large_complex_exponentials():
    """The largest real part is taken out first."""
    x = dispatch.tensor([1000 + 1j, 999 + 2j], dtype=dispatch.complex128)
    want = 1000 + np.log(np.exp(1j) + np.exp(-1 + 2j))
    np.testing.assert_allclose(dispatch.logsumexp(x, 0).item(), want)


@pytest.mark.parametrize("spread", [3, 10**9])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_medians_of_many_elements_are_those_of_their_sort(dtype: str, spread: int) -> None:
    values = np.random.default_rng(0).integers(-spread, spread, 40001)
    x = dispatch.from_numpy(values).to(getattr(dispatch, dtype)) / (1 if "int" in dtype else 1e5)
    x = x.to(getattr(dispatch, dtype))
    found, place = dispatch.median(x, 0)
    ordered, places = x.sort(stable=True)
    assert (found, place) == (ordered[20000], places[20000])
    assert dispatch.median(x) == ordered[20000]
    if "int" not in dtype:
        x[::3] = float("nan")
        found, place = dispatch.nanmedian(x, 0)
        ordered, places = x.sort(stable=True)
        assert (found, place) == (ordered[13333], places[13333])
        assert dispatch.median(x, 0)[1] == 0


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians_of_equal_elements_lie_where_a_stable_sort_has_them(name, dtype):
    x = np.random.default_rng(0).integers(0, 3, (20, 40)).astype(dtype)
    _, places = getattr(dispatch, name)(dispatch.from_numpy(x), 1)
    np.testing.assert_array_equal(places.numpy(), np.argsort(x, 1, kind="stable")[:, 19])


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize(("dtype", "times"), [("float32", 1), ("complex64", 2)])
def test_no_degrees_of_freedom_are_told_at_the_line_that_asks(name, dtype, times) -> None:
    x = dispatch.ones(3, 1, dtype=getattr(dispatch, dtype))
    with pytest.warns(UserWarning, match=f"^{name}\\(\\): degrees of freedom is <= 0") as told:
        getattr(dispatch, name)(x, 1)
    assert [w.filename for w in told] == [__file__] * times
    getattr(dispatch, name)(x, 1, correction=0)
