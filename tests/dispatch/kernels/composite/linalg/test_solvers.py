"""Composites of solvers: outputs, tensors as matrices, and what LAPACK's numbers mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode

pytest.importorskip("scipy")
aten = dispatch.ops.aten
X = np.random.default_rng(0).standard_normal((3, 3))


def test_logdet_is_nan_for_a_negative_determinant():
    t = dispatch.tensor([[[2.0, 0.0], [0.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]]])
    first, second = aten.logdet(t).tolist()
    assert math.isclose(first, math.log(6.0), rel_tol=1e-6)
    assert math.isnan(second)


def test_outputs_are_filled():
    t, one = dispatch.from_numpy(X), np.eye(3)
    for call in (aten.linalg_inv, aten.inverse):
        out = dispatch.empty(0, dtype=t.dtype)
        assert call.out(t, out=out) is out
        np.testing.assert_allclose((out @ t).numpy(), one, atol=1e-10)
    result, info = dispatch.empty(0, dtype=t.dtype), dispatch.empty(0, dtype=dispatch.int32)
    aten.linalg_solve_ex.out(t, t, result=result, info=info)
    np.testing.assert_allclose(result.numpy(), one, atol=1e-10)


def test_tensors_as_matrices():
    a = np.random.default_rng(1).standard_normal((6, 2, 3))
    inverse = aten.linalg_tensorinv(dispatch.from_numpy(a), 1)
    np.testing.assert_allclose(inverse.numpy(), np.linalg.tensorinv(a, 1))
    b = np.random.default_rng(2).standard_normal(6)
    x = aten.linalg_tensorsolve(dispatch.from_numpy(a), dispatch.from_numpy(b))
    np.testing.assert_allclose(x.numpy(), np.linalg.tensorsolve(a, b))
    with pytest.raises(RuntimeError, match="Expected a strictly positive integer for"):
        aten.linalg_tensorinv(dispatch.ones(2, 2), 0)
    with pytest.raises(RuntimeError, match="Expected self to satisfy the requirement"):
        aten.linalg_tensorinv(dispatch.ones(2, 3), 1)


@pytest.mark.parametrize(
    ("name", "number", "kind", "text"),
    [
        ("linalg.inv", 2, "LinAlg", "diagonal element 2 is zero"),
        ("torch.linalg.solve", 1, "LinAlg", "singular"),
        ("linalg.cholesky", 3, "LinAlg", "order 3"),
        ("linalg.svd", -4, "LinAlg", "infinities"),
        ("linalg.svd", 1, "LinAlg", "singular values"),
        ("linalg.eigh", 1, "LinAlg", "eigenvalues"),
        ("linalg.lstsq", 1, "LinAlg", "full rank"),
        ("linalg.lu_factor", 2, "Runtime", r"U\[2,2\]"),
        ("linalg.inv", -3, "Runtime", "argument 3"),
        ("other", 7, "Runtime", "unknown code 7"),
    ],
)
def test_numbers_of_lapack_are_errors(name, number, kind, text):
    info = dispatch.tensor([0, number], dtype=dispatch.int32)
    want = dispatch.linalg.LinAlgError if kind == "LinAlg" else RuntimeError
    with pytest.raises(RuntimeError, match=f"{name}: .Batch element 1.: .*{text}") as caught:
        aten._linalg_check_errors(info, name, is_matrix=False)
    assert type(caught.value) is want


def test_no_number_is_no_error():
    aten._linalg_check_errors(dispatch.zeros(2, dtype=dispatch.int32), "x", is_matrix=False)
    with pytest.raises(RuntimeError, match="int32"):
        aten._linalg_check_errors(dispatch.zeros(2), "x", is_matrix=False)


def test_fake_tensors_have_no_numbers_to_check():
    with FakeTensorMode():
        t = dispatch.empty(2, 3, 3)
        assert aten.linalg_inv(t).stride() == (9, 1, 3)
        assert aten.linalg_solve(t, dispatch.empty(2, 3, 4)).shape == (2, 3, 4)
