"""Histograms: bins and their edges, weights, densities, errors."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten
rng = np.random.default_rng(5)


def test_right_edge_belongs_to_the_last_bin_only():
    hist, edges = dispatch.tensor([0.0, 1.0, 1.0, 2.0, float("nan")]).histogram(
        dispatch.tensor([0.0, 1.0, 2.0])
    )
    assert hist.tolist() == [1.0, 3.0]
    assert edges.tolist() == [0.0, 1.0, 2.0]


def test_bins_divide_the_range_of_the_values():
    hist, edges = dispatch.tensor([1.0, 2.0, 5.0]).histogram(2)
    assert (hist.tolist(), edges.tolist()) == ([2.0, 1.0], [1.0, 3.0, 5.0])
    hist, edges = dispatch.tensor([3.0, 3.0]).histogram(1)
    assert (hist.tolist(), edges.tolist()) == ([2.0], [2.5, 3.5])
    assert dispatch.empty(0).histogram(2)[1].tolist() == [0.0, 0.5, 1.0]


def test_weights_and_density_are_numpys():
    x, w = np.array([0.1, 0.4, 0.7, 2.5]), np.array([1.0, 2.0, 0.5, 9.0])
    got, _ = dispatch.tensor(x).histogram(
        3, range=[0.0, 1.5], weight=dispatch.tensor(w), density=True
    )
    want, _ = np.histogram(x, 3, (0.0, 1.5), weights=w, density=True)
    np.testing.assert_allclose(got.numpy(), want)


def test_points_of_two_coordinates_fall_into_a_grid():
    x = np.array([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]])
    hist, edges = dispatch.histogramdd(dispatch.tensor(x), [2, 3])
    want, want_edges = np.histogramdd(x, (2, 3))
    np.testing.assert_allclose(hist.numpy(), want)
    for got, e in zip(edges, want_edges, strict=True):
        np.testing.assert_allclose(got.numpy(), e)


def test_outputs_are_resized_and_keep_their_dtype():
    hist, edges = dispatch.empty(0), dispatch.empty(0)
    ops.aten.histogram.bin_ct_out(dispatch.tensor([1.0, 2.0]), 2, hist=hist, bin_edges=edges)
    assert (hist.tolist(), edges.tolist()) == ([1.0, 1.0], [1.0, 1.5, 2.0])
    with pytest.raises(RuntimeError, match="hist tensor should have the same dtype"):
        ops.aten.histogram.bin_ct_out(
            dispatch.tensor([1.0]), hist=hist.double(), bin_edges=edges.double()
        )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"bins": 0}, "bins must be > 0"),
        ({"bins": 2, "range": [2.0, 1.0]}, "min should not exceed max"),
        ({"bins": 2, "range": [0.0, float("inf")]}, "is not finite"),
        ({"bins": 2, "weight": dispatch.ones(3)}, "innermost dimension, expected"),
        ({"bins": dispatch.ones(2, dtype=dispatch.float64)}, "bins tensors should have"),
    ],
)
def test_wrong_arguments_are_refused(options, text):
    with pytest.raises(RuntimeError, match=text):
        dispatch.histogram(dispatch.ones(2), **options)


@given(
    st.lists(st.floats(-4, 4, width=32), min_size=1, max_size=40),
    st.integers(1, 9),
    st.booleans(),
)
def test_equal_parts_hold_what_their_edges_say(values, bins, density):
    x = np.array(values, np.float64)
    counts, edges = aten.histogram.bin_ct(
        dispatch.from_numpy(x), bins, range=[-3.0, 3.0], density=density
    )
    if density and not ((x >= -3) & (x <= 3)).any():
        assert np.isnan(counts.numpy()).all()
        return
    want, _ = np.histogram(x, edges.numpy(), density=density)
    np.testing.assert_allclose(counts.numpy(), want)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_given_edges_and_weights(kind):
    x, w = rng.standard_normal(50).astype(kind), rng.random(50).astype(kind)
    edges = np.array([-1, -0.5, 0.25, 2], kind)
    counts, same = aten.histogram.bins_tensor(
        dispatch.from_numpy(x), dispatch.from_numpy(edges), weight=dispatch.from_numpy(w)
    )
    np.testing.assert_allclose(counts.numpy(), np.histogram(x, edges, weights=w)[0], rtol=1e-6)
    assert same.tolist() == edges.tolist()


def test_strided_points_of_three_coordinates():
    wide = rng.standard_normal((40, 6))
    points = wide[::2, ::2]
    bins = [2, 3, 4]
    t = dispatch.from_numpy(wide)[::2, ::2]
    edges = aten._histogramdd_bin_edges(t, bins)
    counts = aten._histogramdd_from_bin_cts(t, bins)
    want, _ = np.histogramdd(points, [e.numpy() for e in edges])
    assert counts.tolist() == want.tolist()
    again = aten._histogramdd_from_bin_tensors(t, edges)
    assert again.tolist() == want.tolist()


def test_what_is_outside_and_nan_are_left_out():
    x = dispatch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf])
    counts, _ = aten.histogram.bin_ct(x, 2, range=[0.0, 1.0])
    assert counts.tolist() == [1, 2]
    assert aten.histc(x, 2, 0, 1).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("dtype", "most"),
    [(dispatch.float32, 3e38), (dispatch.float64, 1e308), (dispatch.float16, 6e4)],
)
def test_histc_counts_nothing_where_the_width_of_the_range_is_infinite(dtype, most):
    x = dispatch.tensor([most, 0.0, 1.0, -most], dtype=dtype)
    assert dispatch.histc(x, 4, -most, most).tolist() == [0.0] * 4
    assert dispatch.histc(x, 4, 0, most).tolist() == [2.0, 0.0, 0.0, 1.0]


def test_histc_of_half_precision_rounds_at_each_step():
    x = dispatch.arange(0, 64, dtype=dispatch.bfloat16)
    assert sum(aten.histc(x, 10).tolist()) == 64
    assert aten.histc(x, 10).dtype is dispatch.bfloat16


@pytest.mark.parametrize("dtype", [dispatch.float16, dispatch.bfloat16])
def test_halves_are_counted_between_given_edges(dtype):
    values = ([-1.5, 0.5, 0.5, 1.0], [-2.0, 0.0, 1.0])
    points, edges = (dispatch.tensor(t).to(dtype) for t in values)
    weight = dispatch.tensor([1.0, 2.0, 0.5, 4.0]).to(dtype)
    hist, found = ops.aten.histogram.bins_tensor(points, edges, weight=weight)
    assert (hist.dtype, hist.tolist(), found.tolist()) == (dtype, [1.0, 6.5], edges.tolist())
    with pytest.raises(NotImplementedError):
        ops.aten.histogram.bin_ct(points, 2)
