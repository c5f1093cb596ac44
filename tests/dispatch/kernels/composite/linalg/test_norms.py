"""Norms of matrices, condition, rank and pseudoinverse: numpy's."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

pytest.importorskip("scipy")
aten = dispatch.ops.aten
X = np.random.default_rng(0).standard_normal((2, 3, 4))
T = dispatch.from_numpy(X)
inf = float("inf")


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [(-2, -1), (0, 1), (2, 0), (1, 0)])
@pytest.mark.parametrize("ord", [1, -1, 2, -2, inf, -inf, "fro", "nuc"])
def test_matrix_norms_are_numpys(ord, dim, keepdim):
    call = aten.linalg_matrix_norm
    call = call.str_ord if isinstance(ord, str) else call.default
    want = np.linalg.norm(X, ord, dim, keepdim)
    np.testing.assert_allclose(call(T, ord, dim, keepdim).numpy(), want)


def test_norm_of_nothing_is_zero():
    for ord in (1, 2, inf):
        assert aten.linalg_matrix_norm(dispatch.empty(3, 0), ord).item() == 0.0
    with pytest.raises(IndexError):
        aten.linalg_matrix_norm(dispatch.empty(3, 0), -2)


def test_norm_is_that_of_vectors_or_matrices():
    assert np.isclose(aten.linalg_norm(T).item(), np.linalg.norm(X.ravel()))
    assert np.isclose(aten.linalg_norm(T[0], 2).item(), np.linalg.norm(X[0], 2))
    assert np.isclose(aten.linalg_norm(T[0, 0], 3).item(), np.linalg.norm(X[0, 0], 3))
    got = aten.linalg_norm.ord_str(T, "nuc", [0, 1])
    np.testing.assert_allclose(got.numpy(), np.linalg.norm(X, "nuc", (0, 1)))


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, inf, "fro", "nuc"])
def test_condition_is_numpys(p):
    x = X[:, :, :3]
    call = aten.linalg_cond.p_str if isinstance(p, str) else aten.linalg_cond.default
    got = call(dispatch.from_numpy(x.copy()), p)
    np.testing.assert_allclose(got.numpy(), np.linalg.cond(x, p))


def test_condition_of_singular_and_of_empty_matrices():
    assert aten.linalg_cond(dispatch.zeros(2, 2), 1).item() == inf
    assert aten.linalg_cond(dispatch.empty(3, 0, 0)).tolist() == [0.0, 0.0, 0.0]


def test_rank_counts_singular_values():
    x = dispatch.diag(dispatch.tensor([4.0, 2.0, 1e-9]))
    assert aten.linalg_matrix_rank.atol_rtol_float(x).item() == 2
    assert aten.linalg_matrix_rank.atol_rtol_float(x, hermitian=True).item() == 2
    assert aten.linalg_matrix_rank(x, 3.0).item() == 1
    assert aten.linalg_matrix_rank.atol_rtol_tensor(x, rtol=dispatch.tensor(0.6)).item() == 1
    assert aten.linalg_matrix_rank.tol_tensor(x, dispatch.tensor(0.0)).item() == 3
    assert aten.linalg_matrix_rank(dispatch.empty(2, 0, 3), 0.1).tolist() == [0, 0]


@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (0, 3), (2, 0)])
def test_pseudoinverse_is_numpys(shape):
    x = np.random.default_rng(1).standard_normal((2, *shape))
    got = aten.linalg_pinv(dispatch.from_numpy(x), 1e-12)
    np.testing.assert_allclose(got.numpy(), np.linalg.pinv(x), atol=1e-10)


def test_pseudoinverse_of_hermitian_matrices():
    x = X[0] @ X[0].T
    got = aten.linalg_pinv.atol_rtol_float(dispatch.from_numpy(x), hermitian=True)
    np.testing.assert_allclose(got.numpy(), np.linalg.pinv(x, hermitian=True), atol=1e-10)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: aten.linalg_matrix_norm(T, 3), "ord"),
        (lambda: aten.linalg_matrix_norm(T, 1, [0]), r"dim must be a 2-tuple\. Got \[0\]"),
        (lambda: aten.linalg_matrix_norm(T, 1, [0, 0]), "different"),
        (lambda: aten.linalg_matrix_norm.str_ord(T, "x"), r"Order x not supported\."),
        (lambda: aten.linalg_norm(T, 1), "1D or 2D. Got 3D"),
        (lambda: aten.linalg_cond(T, 3), r"linalg\.cond got an invalid norm type: 3"),
        (lambda: aten.linalg_cond(T, 1), "square"),
        (lambda: aten.linalg_pinv(dispatch.ones(3), 0.1), "2 or more dimensions"),
        (
            lambda: aten.linalg_pinv(dispatch.ones(3, 3, dtype=dispatch.int64), 0.1),
            "Expected a floating point or complex tensor",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_a_tolerance_by_sizes_is_asked_of_matrices_only() -> None:
    x = dispatch.ones(3)
    with pytest.raises(IndexError, match="Dimension"):
        aten.linalg_pinv.atol_rtol_float(x, atol=0.1)
    with pytest.raises(RuntimeError, match="2 or more dimensions"):
        aten.linalg_pinv.atol_rtol_float(x, rtol=0.1)
