"""Matrices in any memory order, and outputs that lie where inputs do: the same results."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch
from tests.dispatch.kernels.cpu.linalg.test_factors import KINDS, close

aten = dispatch.ops.aten
rng = np.random.default_rng(3)


def matrices(kind, *sizes):
    x = rng.standard_normal(sizes)
    if np.dtype(kind).kind == "c":
        x = x + 1j * rng.standard_normal(sizes)
    return x.astype(kind)


def by_rows(x):
    return dispatch.from_numpy(np.ascontiguousarray(x))


def by_columns(x):
    return dispatch.from_numpy(np.ascontiguousarray(np.swapaxes(x, -1, -2))).mT


def sliced(x):
    wide = np.zeros([2 * n for n in x.shape], x.dtype)
    wide[tuple(slice(None, None, 2) for _ in x.shape)] = x
    return dispatch.from_numpy(wide)[tuple(slice(None, None, 2) for _ in x.shape)]


def conjugated(x):
    return by_columns(x.conj()).conj()


ORDERS = [by_rows, by_columns, sliced, conjugated]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ORDERS)
def test_inputs_in_any_order(order, kind):
    a, b = matrices(kind, 2, 3, 3), matrices(kind, 2, 3, 2)
    low = np.tril(a) + 3 * np.eye(3, dtype=kind)
    close(aten.linalg_det(order(a)), np.linalg.det(a))
    close(aten.linalg_inv(order(a)), np.linalg.inv(a))
    close(aten.linalg_solve(order(a), order(b)), np.linalg.solve(a, b))
    right = np.swapaxes(b, -1, -2)
    solved = aten.linalg_solve(order(a), order(right), left=False)
    close(solved.resolve_conj(), right @ np.linalg.inv(a))
    lower = aten.linalg_solve_triangular(order(low), order(b), upper=False)
    close(lower, np.linalg.solve(low, b))
    older, copied = aten.triangular_solve(order(b), order(low), False, True)
    close(older, np.linalg.solve(np.swapaxes(low, -1, -2), b))
    close(copied, low)
    sign, size = aten.linalg_slogdet(order(a))
    close(sign, np.linalg.slogdet(a)[0])
    close(size, np.linalg.slogdet(a)[1])
    factors, pivots, _ = aten.linalg_lu_factor_ex(order(a))
    p, low, up = aten.lu_unpack(order(factors.numpy()), pivots)
    close(p, (p.numpy().real).astype(kind))
    close(aten.bmm(aten.bmm(p, low), up), a)
    u, s, vh = aten.linalg_svd(order(a), False)
    close(dispatch.from_numpy(u.numpy() * s.numpy()[:, None, :].astype(kind)) @ vh, a)


@pytest.mark.parametrize("kind", KINDS)
def test_one_matrix_for_several_right_sides(kind):
    a, b = matrices(kind, 1, 3, 3), matrices(kind, 4, 3, 2)
    got = aten.linalg_solve(by_rows(a), by_rows(b))
    close(got, np.linalg.solve(np.repeat(a, 4, 0), b))
    factors, pivots = aten.linalg_lu_factor(by_rows(a))
    close(aten.linalg_lu_solve(factors, pivots, by_rows(b)), got.numpy())
    adjoint = aten.linalg_lu_solve(factors, pivots, by_rows(b), adjoint=True)
    close(adjoint, np.linalg.solve(np.repeat(np.swapaxes(a, -1, -2).conj(), 4, 0), b))


@pytest.mark.parametrize("order", [by_rows, by_columns])
def test_output_that_is_the_input(order):
    a = matrices(np.float64, 3, 3)
    spd = a @ a.T + np.eye(3)
    x = order(spd.copy())
    aten.linalg_inv.out(x, out=x)
    close(x, np.linalg.inv(spd))
    x = order(spd.copy())
    aten.linalg_cholesky.out(x, out=x)
    close(x, np.linalg.cholesky(spd))
    b = order(a.copy())
    aten.linalg_solve_triangular.out(order(np.triu(spd)), b, upper=True, out=b)
    close(b, np.linalg.solve(np.triu(spd), a))


def test_outputs_of_another_order_keep_it():
    a = matrices(np.float64, 2, 4, 3)
    q, r = by_rows(np.zeros((2, 4, 3))), sliced(np.zeros((2, 3, 3)))
    steps = r.stride()
    aten.linalg_qr.out(by_rows(a), Q=q, R=r)
    assert q.stride() == (12, 3, 1)
    assert r.stride() == steps
    close(q @ r, a)


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (3, 0)])
def test_matrices_without_elements(m, n):
    x = dispatch.empty(2, m, n)
    p, low, up = aten.linalg_lu(x)
    assert (p.shape, low.shape, up.shape) == ((2, m, m), (2, m, 0), (2, 0, n))
    assert p.tolist() == [np.eye(m).tolist()] * 2
    factors, pivots, info = aten.linalg_lu_factor_ex(x)
    assert (factors.shape, pivots.shape, info.tolist()) == ((2, m, n), (2, 0), [0, 0])
    if m == n:
        assert aten.linalg_det(x).tolist() == [1, 1]
        assert aten.linalg_slogdet(x)[1].tolist() == [0, 0]
        assert aten.linalg_inv_ex(x)[1].tolist() == [0, 0]


def test_pivots_that_do_not_fit_the_factors():
    with pytest.raises(RuntimeError, match=r"lu_unpack.*LU_pivots"):
        aten.lu_unpack(dispatch.ones(2, 3, 3), dispatch.ones(3, dtype=dispatch.int32))


def test_determinant_overflows_as_its_dtype_does():
    x = dispatch.diag(dispatch.tensor([1e30, 1e30, 1e-30], dtype=dispatch.float32))
    assert aten.linalg_det(x).item() == np.inf
    assert aten.linalg_det(x.to(dispatch.float64)).item() == pytest.approx(1e30)
