"""Factorisations on the CPU: their products are what was factored, in every dtype and order."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode

pytest.importorskip("scipy")
aten = dispatch.ops.aten

KINDS = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(3, 3), (2, 4, 3), (3, 5), (2, 0, 3, 3), (0, 3), (3, 0), (1, 1)]


def matrices(shape, kind, seed=0):
    """A batch of random matrices, as numpy's and as a tensor."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if kind.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    values = values.astype(kind)
    return values, dispatch.from_numpy(values.copy())


def positive(shape, kind):
    values, _ = matrices(shape, kind)
    values = values @ values.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=kind)
    return values, dispatch.from_numpy(values.copy())


def close(got, want):
    array = got.resolve_conj().numpy()
    tolerance = 1e-4 if array.dtype.itemsize // (1 + (array.dtype.kind == "c")) == 4 else 1e-10
    np.testing.assert_allclose(array, want, rtol=tolerance, atol=tolerance)


def is_column_major(t):
    return t.mT.is_contiguous()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_factor_times_its_adjoint(kind, upper):
    values, t = positive((2, 3, 3), kind)
    factor, info = aten.linalg_cholesky_ex(t, upper=upper)
    product = factor.mH @ factor if upper else factor @ factor.mH
    close(product, values)
    assert is_column_major(factor)
    assert info.tolist() == [0, 0]
    assert not (factor.tril(-1) if upper else factor.triu(1)).any()
    close(aten.cholesky_inverse(factor, upper) @ t, np.broadcast_to(np.eye(3), (2, 3, 3)))


def test_cholesky_says_which_minor_is_not_positive():
    t = dispatch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
    assert aten.linalg_cholesky_ex(t)[1].tolist() == [0, 2]
    with pytest.raises(
        dispatch.linalg.LinAlgError, match=r"linalg\.cholesky: \(Batch element 1\): The.*order 2"
    ):
        aten.linalg_cholesky(t)
    with pytest.raises(dispatch.linalg.LinAlgError, match="cholesky_ex"):
        aten.linalg_cholesky_ex(t, check_errors=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu_multiplies_to_what_was_factored(shape, kind):
    values, t = matrices(shape, kind)
    p, left, right = aten.linalg_lu(t)
    close(p @ left @ right, values)
    factors, pivots = aten.linalg_lu_factor(t)
    again = aten.lu_unpack(factors, pivots)
    for a, b in zip(again, (p, left, right), strict=True):
        close(a, b.numpy())
    assert pivots.dtype is dispatch.int32


def test_lu_without_pivoting_is_not_there():
    for call in (aten.linalg_lu, aten.linalg_lu_factor, aten.linalg_lu_factor_ex):
        with pytest.raises(RuntimeError, match="without pivoting"):
            call(dispatch.ones(2, 2), pivot=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr_multiplies_to_what_was_factored(shape, mode, kind):
    values, t = matrices(shape, kind)
    q, r = aten.linalg_qr(t, mode)
    close(r.tril(-1), np.zeros(r.shape))
    if mode == "r":
        assert q.shape == (0,)
        return
    close(q @ r, values)
    close(q.mH @ q, np.broadcast_to(np.eye(q.shape[-1]), q.mH.shape[:-1] + q.shape[-1:]))


@pytest.mark.parametrize("kind", KINDS)
def test_reflectors_multiply_as_the_matrix_that_they_make(kind):
    _, t = matrices((2, 4, 3), kind)
    values, c = matrices((2, 4, 4), kind, 1)
    a, tau = aten.geqrf(t)
    wide = dispatch.cat([a, a.new_zeros(2, 4, 1)], 2)
    q = aten.linalg_householder_product(wide, tau).resolve_conj().numpy()
    close(aten.ormqr(a, tau, c), q @ values)
    close(aten.ormqr(a, tau, c, False), values @ q)
    close(aten.ormqr(a, tau, c, True, True), q.conj().swapaxes(-1, -2) @ values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl_factors_solve(kind, hermitian):
    values, _ = matrices((2, 3, 3), kind)
    other = values.swapaxes(-1, -2)
    values = values + (other.conj() if hermitian else other)
    t = dispatch.from_numpy(values)
    b, rhs = matrices((2, 3, 2), kind, 1)
    factors, pivots, info = aten.linalg_ldl_factor_ex(t, hermitian=hermitian)
    assert info.tolist() == [0, 0]
    close(t @ aten.linalg_ldl_solve(factors, pivots, rhs, hermitian=hermitian), b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("uplo", ["L", "u"])
def test_eigenvalues_of_hermitian_matrices(kind, uplo):
    values, t = positive((2, 3, 3), kind)
    w, v = aten.linalg_eigh(t, uplo)
    close(w, np.linalg.eigvalsh(values))
    close(v @ (w.unsqueeze(-1) * v.mH), values)
    close(aten.linalg_eigvalsh(t, uplo), np.linalg.eigvalsh(values))
    assert is_column_major(v)


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvalues_of_general_matrices(kind):
    values, t = matrices((3, 4, 4), kind)
    w, v = aten.linalg_eig(t)
    array = v.numpy()
    close(v, array)
    np.testing.assert_allclose(
        values @ array, array * w.numpy()[:, None, :], atol=1e-4 if "32" in kind else 1e-3
    )
    assert sorted(aten.linalg_eigvals(t).flatten().tolist(), key=str) == sorted(
        w.flatten().tolist(), key=str
    )


def test_eigenvalues_of_infinities_are_refused():
    with pytest.raises(RuntimeError, match=r"linalg_eig.*finite"):
        aten.linalg_eig(dispatch.full((2, 2), float("inf")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values_and_vectors(shape, full, kind):
    values, t = matrices(shape, kind)
    u, s, vh = aten.linalg_svd(t, full)
    k = min(shape[-2:])
    close((u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], values)
    close(u.mH @ u, np.broadcast_to(np.eye(u.shape[-1]), (*u.shape[:-2], *[u.shape[-1]] * 2)))
    close(aten.linalg_svdvals(t), s.numpy())
    assert s.tolist() == s.sort(-1, descending=True)[0].tolist()


def test_driver_of_svd_is_for_cuda():
    with pytest.raises(RuntimeError, match="driver"):
        aten.linalg_svd(dispatch.ones(2, 2), driver="gesvd")


@pytest.mark.parametrize("kind", [dispatch.float16, dispatch.bfloat16])
def test_narrow_floats_have_no_factors(kind):
    t = dispatch.eye(2, dtype=kind)
    for name in ("linalg_cholesky_ex", "linalg_qr", "_linalg_svd", "linalg_eigh"):
        with pytest.raises(NotImplementedError, match=str(kind)):
            getattr(aten, name)(t)


def test_output_of_another_order_is_copied_into():
    values, t = positive((3, 3), "float64")
    factor, info = dispatch.empty(3, 3, dtype=t.dtype), dispatch.empty(0, dtype=dispatch.int32)
    aten.linalg_cholesky_ex.L(t, L=factor, info=info)
    assert factor.is_contiguous()
    close(factor @ factor.mT, values)


def test_output_may_be_the_input():
    values, t = positive((3, 3), "float64")
    aten.linalg_cholesky.out(t, out=t)
    close(t @ t.mT, values)


def test_more_pivots_than_rows_are_refused():
    factors = dispatch.ones(4, 5)
    with pytest.raises(RuntimeError, match="expected a vector of LU_pivots for each matrix"):
        aten.lu_unpack(factors, dispatch.ones(7, dtype=dispatch.int32))


@pytest.mark.parametrize("places", [[0, 1, 2], [1, 3, 4], [1, -1, 1], [1, 2]])
def test_pivots_that_are_no_rows_are_refused(places):
    lu, pivots = dispatch.ones(3, 3), dispatch.tensor(places, dtype=dispatch.int32)
    outs = [dispatch.full((3, 3), 7.0) for _ in range(3)]
    with pytest.raises(RuntimeError, match=r"^aten::lu_unpack.*: expected .*LU_pivots"):
        aten.lu_unpack.out(lu, pivots, P=outs[0], L=outs[1], U=outs[2])
    assert all(t.eq(7).all() for t in outs)
    aten.lu_unpack(lu, pivots, True, False)  # nobody looks
    with FakeTensorMode() as mode:
        aten.lu_unpack(mode.from_tensor(lu), mode.from_tensor(pivots))


def test_the_last_row_may_be_a_pivot():
    pivots = dispatch.tensor([3, 3, 3], dtype=dispatch.int32)
    assert aten.lu_unpack(dispatch.ones(3, 3), pivots)[0].sum().item() == 3
