"""The exponential of matrices, and sums of tensors with factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

aten = dispatch.ops.aten


def test_exponential_of_a_diagonal_is_that_of_its_numbers():
    numbers = [-3.0, 0.0, 1.0, 12.0]
    got = aten.linalg_matrix_exp(dispatch.diag(dispatch.tensor(numbers, dtype=dispatch.float64)))
    np.testing.assert_allclose(got.numpy(), np.diag(np.exp(numbers)), rtol=1e-10)


@given(st.floats(-20, 20))
def test_exponential_of_a_rotation_turns(angle):
    t = dispatch.tensor([[0.0, -angle], [angle, 0.0]], dtype=dispatch.float64)
    want = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    np.testing.assert_allclose(aten.linalg_matrix_exp(t).numpy(), want, atol=1e-10)


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
@pytest.mark.parametrize("reach", [0.01, 1.0, 9.0])
def test_exponential_of_large_matrices_in_single_precision(kind, reach):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((2, 97, 97)) * reach / 10
    values = values + 1j * values[::-1] if kind is np.complex64 else values
    got = aten.linalg_matrix_exp(dispatch.from_numpy(values.astype(kind))).numpy()
    want = aten.linalg_matrix_exp(dispatch.from_numpy(values)).numpy()
    assert got.dtype == kind
    np.testing.assert_allclose(got, want, rtol=0, atol=abs(want).max() * 3e-5)


def test_exponential_of_batches_of_all_kinds():
    assert aten.linalg_matrix_exp(dispatch.empty(2, 0, 0)).shape == (2, 0, 0)
    both = dispatch.stack([dispatch.zeros(2, 2), dispatch.full((2, 2), float("nan"))])
    got = aten.linalg_matrix_exp(both)
    assert got[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert got[1].isnan().all()


def test_combinations_of_slices():
    values, weights = np.arange(12.0).reshape(3, 2, 2), np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    t, w = dispatch.from_numpy(values), dispatch.from_numpy(weights)
    got = aten._compute_linear_combination(t, w)
    assert got.tolist() == np.tensordot(weights, values, 1).tolist()
    out = dispatch.empty(0, dtype=t.dtype)
    assert aten._compute_linear_combination.out(t, w, out=out) is out
    assert out.tolist() == got.tolist()
    with pytest.raises(RuntimeError, match="elements"):
        aten._compute_linear_combination(dispatch.empty(0, 2), dispatch.empty(2, 0))


def test_linear_combination_is_added_to_its_output():
    values, factors = dispatch.tensor([[1.0, 2.0], [3.0, 4.0]]), dispatch.tensor([[1.0, -1.0]])
    combine = dispatch.ops.aten._compute_linear_combination
    assert combine.out(values, factors, out=dispatch.ones(1, 2)).tolist() == [[-1.0, -1.0]]
    assert combine.out(values, factors, out=dispatch.ones(0)).tolist() == [[-2.0, -2.0]]
