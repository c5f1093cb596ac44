"""Powers, chains and other products of matrices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

pytest.importorskip("scipy")
aten = dispatch.ops.aten
rng = np.random.default_rng(0)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 5, 8, 13])
def test_powers_are_numpys(n):
    x = rng.standard_normal((2, 3, 3))
    want = np.linalg.matrix_power(x, n)
    np.testing.assert_allclose(aten.linalg_matrix_power(dispatch.from_numpy(x), n).numpy(), want)
    out = dispatch.empty(0, dtype=dispatch.float64)
    assert aten.matrix_power.out(dispatch.from_numpy(x), n, out=out) is out
    np.testing.assert_allclose(out.numpy(), want)


@pytest.mark.parametrize("n", [0, 1, 4, -4, 8])
def test_powers_that_are_copied_go_into_a_wider_dtype(n):
    out = dispatch.empty(0, dtype=dispatch.float64)
    assert aten.linalg_matrix_power.out(2 * dispatch.eye(2), n, out=out) is out
    assert out.tolist() == [[2.0**n, 0], [0, 2.0**n]]


@given(st.lists(st.integers(1, 4), min_size=3, max_size=7))
def test_chains_are_products_in_any_order(sizes):
    factors = [rng.standard_normal(pair) for pair in pairwise(sizes)]
    tensors = [dispatch.from_numpy(f) for f in factors]
    want = np.linalg.multi_dot(factors)
    np.testing.assert_allclose(aten.linalg_multi_dot(tensors).numpy(), want, atol=1e-12)
    out = dispatch.empty(0, dtype=dispatch.float64)
    aten.linalg_multi_dot.out(tensors, out=out)
    np.testing.assert_allclose(out.numpy(), want, atol=1e-12)


def test_vectors_at_the_ends_of_a_chain():
    v, m = dispatch.tensor([1.0, 2.0]), dispatch.tensor([[1.0, 0.0], [0.0, 3.0]])
    assert aten.linalg_multi_dot([v, m, v]).item() == 13.0
    assert aten.linalg_multi_dot([m, v]).tolist() == [1.0, 6.0]
    assert aten.chain_matmul([m]).tolist() == m.tolist()


def test_refusals():
    v, m = dispatch.ones(2), dispatch.ones(2, 2)
    with pytest.raises(RuntimeError, match="at least 2 tensors"):
        aten.linalg_multi_dot([m])
    with pytest.raises(RuntimeError, match=r"multi_dot\(\): tensor 1 must be 2D but got 1D"):
        aten.linalg_multi_dot([m, v, m])
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        aten.linalg_multi_dot([m, dispatch.ones(3, 2)])
    with pytest.raises(RuntimeError, match="expected matrices"):
        aten.chain_matmul([m, v])
    with pytest.raises(RuntimeError, match="square"):
        aten.linalg_matrix_power(dispatch.ones(2, 3), 2)
    with pytest.raises(RuntimeError, match="N must be greater than 1, got 1"):
        aten.linalg_vander(v, N=1)


def test_rows_of_powers():
    x = dispatch.tensor([2, 3])
    assert aten.linalg_vander(x, N=3).tolist() == [[1, 2, 4], [1, 3, 9]]


def test_vecdot_conjugates_the_first():
    x = dispatch.tensor([[1j, 2.0]])
    assert aten.linalg_vecdot(x, x).tolist() == [5.0]
    assert aten.linalg_vecdot(x[0], x[0]).item() == 5.0


def test_vecdot_takes_an_output_of_its_dtype_only():
    x = dispatch.ones(2, 2)
    for n in (x, x[0]):
        with pytest.raises(RuntimeError, match=r"expected out of dtype .*float32 but found .*64"):
            aten.linalg_vecdot.out(n, n, out=dispatch.empty(0, dtype=dispatch.float64))


def test_gradient_of_the_exponential_of_a_number():
    x, g = dispatch.tensor([[2.0]]), dispatch.tensor([[3.0]])
    got = aten.matrix_exp_backward(x, g)
    np.testing.assert_allclose(got.numpy(), [[3 * np.exp(2.0)]], rtol=1e-5)
