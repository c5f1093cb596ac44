"""Small matrices, and blocks of large ones, have loops of their own: factors give them back."""

import numpy as np
import pytest

import dispatch
from dispatch import linalg

SIZES = [*range(1, 9), 16, 17, 40, 64, 65]
KINDS = ["float32", "float64", "complex64", "complex128"]


def made(kind, *shape):
    rng = np.random.default_rng(sum(shape))
    values = rng.standard_normal(shape)
    if kind.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(kind)


def invertible(kind, n):
    return made(kind, 5, n, n) + 2 * n**0.5 * np.eye(n, dtype=kind)


def close(found, expected):
    found = found.resolve_conj().numpy()
    expected = np.broadcast_to(expected, found.shape)
    error = 1e-4 if found.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(found, expected, rtol=0, atol=error * max(1, abs(expected).max()))


def adjoint(a):
    return a.conj().swapaxes(-2, -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("more", [-1, 0, 2])
def test_lu_and_qr_multiply_to_the_matrix(kind, n, more):
    a = made(kind, 5, n, max(1, n + more))
    p, lower, upper = linalg.lu(dispatch.from_numpy(a))
    close(p @ lower @ upper, a)
    assert abs(lower.numpy()).max() < 1.5  # the largest is the pivot
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(dispatch.from_numpy(a), mode)
        close(q @ r, a)
        close(q.mH @ q, np.eye(q.shape[-1]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_solutions_and_inverses_fit_the_matrix(kind, n):
    a, columns = invertible(kind, n), made(kind, 5, n, 6)
    x = dispatch.from_numpy(a)
    close(linalg.inv(x) @ x, np.eye(n))
    close(linalg.inv(x.mT) @ x.mT, np.eye(n))
    factors, pivots = linalg.lu_factor(x)
    for b in (columns, columns[..., :2]):
        y = dispatch.from_numpy(b)
        z = dispatch.from_numpy(b.swapaxes(-2, -1).copy())
        close(x @ linalg.solve(x, y), b)
        close(linalg.solve(x, z, left=False) @ x, b.swapaxes(-2, -1))
        close(x.mH @ linalg.lu_solve(factors, pivots, y, adjoint=True), b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("upper", [False, True])
def test_triangles_are_solved_and_found(kind, n, upper):
    a, columns = invertible(kind, n), made(kind, 5, n, 6)
    square = a @ adjoint(a)
    factor = linalg.cholesky(dispatch.from_numpy(square), upper=upper)
    close(factor.mH @ factor if upper else factor @ factor.mH, square)
    b = dispatch.from_numpy(columns)
    close(factor @ linalg.solve_triangular(factor, b, upper=upper), columns)
    close(
        linalg.solve_triangular(factor, b.mT, upper=upper, left=False) @ factor,
        columns.swapaxes(-2, -1),
    )
    by_columns = factor.mT.contiguous().mT
    close(factor @ linalg.solve_triangular(by_columns, b, upper=upper), columns)
    ones = factor / (2 * n * factor.abs().amax())
    ones.diagonal(dim1=-2, dim2=-1).fill_(1)
    close(ones @ linalg.solve_triangular(ones, b, upper=upper, unitriangular=True), columns)


def test_what_has_no_factors_is_counted_from_one():
    assert linalg.lu_factor_ex(dispatch.zeros(2, 3, 3)).info.tolist() == [1, 1]
    assert linalg.cholesky_ex(dispatch.tensor([[4.0, 0.0], [0.0, -1.0]])).info.item() == 2


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_reflectors_of_columns_whose_squares_leave_the_range(scale):
    a = np.array([[1, 2], [3, 1]], "float32") * np.float32(scale)
    q, r = linalg.qr(dispatch.from_numpy(a))
    np.testing.assert_allclose((q @ r).numpy(), a, rtol=1e-5)
    np.testing.assert_allclose((q.mT @ q).numpy(), np.eye(2), atol=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_large_triangles_are_solved_by_blocks(kind, threads):
    a, columns = invertible(kind, 200), made(kind, 5, 200, 70)
    factor = np.tril(a / 100) + np.eye(200, dtype=kind)
    before = dispatch.get_num_threads()
    dispatch.set_num_threads(threads)
    try:
        for one in (factor, factor.swapaxes(-2, -1).copy()):
            x, upper = dispatch.from_numpy(one[0]), one is not factor
            b = dispatch.from_numpy(columns[0])
            close(x @ linalg.solve_triangular(x, b, upper=upper), columns[0])
            close(linalg.solve_triangular(x, b.mT, upper=upper, left=False) @ x, columns[0].T)
            whole = x.mH @ x if upper else x @ x.mH
            close(whole @ dispatch.cholesky_solve(b, x, upper), columns[0])
        close(dispatch.from_numpy(a[0]) @ linalg.solve(dispatch.from_numpy(a[0]), b), columns[0])
    finally:
        dispatch.set_num_threads(before)
