"""Histograms: bins and their edges, weights, densities, errors."""

import numpy as np
import pytest

import dispatch
from dispatch import ops


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
    with pytest.raises(RuntimeError, match="outputs to be"):
        ops.aten.histogram.bin_ct_out(
            dispatch.tensor([1.0]), hist=hist.double(), bin_edges=edges.double()
        )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"bins": 0}, "bins to be positive"),
        ({"bins": 2, "range": [2.0, 1.0]}, "end is not below its start"),
        ({"bins": 2, "range": [0.0, float("inf")]}, "finite range"),
        ({"bins": 2, "weight": dispatch.ones(3)}, "weight to have shape"),
        ({"bins": dispatch.ones(2, dtype=dispatch.float64)}, "bins to be"),
    ],
)
def test_wrong_arguments_are_refused(options, text):
    with pytest.raises(RuntimeError, match=text):
        dispatch.histogram(dispatch.ones(2), **options)
