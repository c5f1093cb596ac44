"""Covariance and correlation: weights, degrees of freedom, complex numbers, errors."""

import numpy as np
import pytest

import dispatch


def test_covariance_is_numpys_with_both_kinds_of_weights():
    x = dispatch.tensor([[1.0, 2.0, 4.0], [3.0, 0.0, 5.0]], dtype=dispatch.float64)
    often, weigh = dispatch.tensor([1, 2, 3]), dispatch.tensor([0.5, 1.0, 2.0]).double()
    got = x.cov(correction=1, fweights=often, aweights=weigh).numpy()
    want = np.cov(x.numpy(), fweights=[1, 2, 3], aweights=[0.5, 1.0, 2.0])
    np.testing.assert_allclose(got, want)


def test_complex_covariance_conjugates_the_second_factor():
    x = np.array([[1 + 2j, 3 - 1j, 0.5j], [2.0, 1j, 4 - 2j]])
    np.testing.assert_allclose(dispatch.tensor(x).cov().numpy(), np.cov(x))


def test_correlation_of_one_variable_is_one():
    assert dispatch.tensor([1.0, 2.0, 4.0]).corrcoef().item() == 1.0
    assert dispatch.tensor([[1.0, 2.0], [2.0, 1.0]]).corrcoef().tolist() == [
        [1.0, -1.0],
        [-1.0, 1.0],
    ]


def test_no_degrees_of_freedom_warn():
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert dispatch.tensor([1.0]).cov().isnan().item()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"fweights": dispatch.tensor([1.0, 1.0])}, r"cov\(\): expected fweights to have integral"),
        ({"aweights": dispatch.tensor([1, 1])}, "aweights to have floating point"),
        ({"fweights": dispatch.tensor([1])}, r"cov\(\): expected fweights to have the same"),
        ({"fweights": dispatch.tensor([1, -1])}, r"cov\(\): fweights cannot be negative"),
    ],
)
def test_wrong_weights_are_refused(options, text):
    with pytest.raises(RuntimeError, match=text):
        dispatch.ones(3, 2).cov(**options)
