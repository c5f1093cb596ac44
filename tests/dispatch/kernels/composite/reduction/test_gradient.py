"""Numerical gradients: steps, coordinates, ends of both orders, errors."""

import numpy as np
import pytest

import dispatch


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_are_numpys(edge_order):
    x = np.array([[1.0, 4.0, 9.0, 3.0], [2.0, 0.0, 1.0, 7.0], [5.0, 5.0, 2.0, 8.0]])
    for got, want in zip(
        dispatch.gradient(dispatch.tensor(x), spacing=2.0, edge_order=edge_order),
        np.gradient(x, 2.0, edge_order=edge_order),
        strict=True,
    ):
        np.testing.assert_allclose(got.numpy(), want)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_coordinates_may_lie_unevenly(edge_order):
    x, at = np.array([1.0, 4.0, 9.0, 3.0]), np.array([0.0, 1.0, 3.0, 4.5])
    (got,) = dispatch.gradient(
        dispatch.tensor(x), spacing=[dispatch.tensor(at)], edge_order=edge_order
    )
    np.testing.assert_allclose(got.numpy(), np.gradient(x, at, edge_order=edge_order))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"edge_order": 3}, r"torch\.gradient only supports edge_order=1 and"),
        ({"dim": 0, "edge_order": 2}, r"at least edge_order\+1, 3"),
        ({"spacing": [1.0]}, r"torch\.gradient expected spacing to be"),
    ],
)
def test_wrong_arguments_are_refused(options, text):
    with pytest.raises(RuntimeError, match=text):
        dispatch.gradient(dispatch.ones(2, 3), **options)
