"""Solutions, inverses and determinants on the CPU: against numpy's, in every order of memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dispatch
from tests.dispatch.kernels.cpu.linalg.test_factors import KINDS, close, matrices, positive

pytest.importorskip("scipy")
aten = dispatch.ops.aten


def by_columns(t):
    return t.mT.contiguous().mT


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [lambda t: t, by_columns])
def test_determinant_and_inverse_are_numpys(order, kind):
    values, t = matrices((3, 4, 4), kind)
    t = order(t)
    close(aten.linalg_det(t), np.linalg.det(values))
    for got, want in zip(aten.linalg_slogdet(t), np.linalg.slogdet(values), strict=True):
        close(got, want)
    close(aten.linalg_inv(t) @ t, np.broadcast_to(np.eye(4), (3, 4, 4)))


def test_determinant_of_nothing_is_one():
    assert aten.linalg_det(dispatch.empty(2, 0, 0)).tolist() == [1.0, 1.0]
    sign, logarithm = aten.linalg_slogdet(dispatch.empty(0, 0))
    assert (sign.item(), logarithm.item()) == (1.0, 0.0)


def test_singular_matrix_has_no_inverse():
    t = dispatch.zeros(2, 2)
    assert aten.linalg_det(t).item() == 0.0
    assert aten.linalg_slogdet(t)[1].item() == -float("inf")
    assert aten.linalg_inv_ex(t)[1].item() == 1
    with pytest.raises(dispatch.linalg.LinAlgError, match=r"linalg.inv: .*element 1"):
        aten.linalg_inv(t)
    with pytest.raises(dispatch.linalg.LinAlgError, match="singular"):
        aten.linalg_solve(t, dispatch.ones(2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [lambda t: t, by_columns])
def test_solutions_multiply_to_the_right_side(order, kind):
    _, a = matrices((2, 3, 3), kind)
    b, rhs = matrices((2, 3, 2), kind, 1)
    a = order(a)
    x = aten.linalg_solve(a, order(rhs))
    close(a @ x, b)
    left = aten.linalg_solve(a, rhs.mT.contiguous(), left=False)
    close(left @ a, b.swapaxes(-1, -2))
    assert x.mT.is_contiguous()
    assert left.is_contiguous()


def test_vectors_and_batches_are_broadcast():
    _, a = matrices((2, 3, 3), "float64")
    b, rhs = matrices((2, 3), "float64", 1)
    close((a @ aten.linalg_solve(a, rhs).unsqueeze(-1)).squeeze(-1), b)
    wide = aten.linalg_solve(a[:1], rhs.unsqueeze(-1))
    assert wide.shape == (2, 3, 1)
    close(a[:1] @ wide, b[..., None])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_lu_solve(left, adjoint, kind):
    _, a = matrices((3, 3), kind)
    b, rhs = matrices((2, 3, 3), kind, 1)
    factors, pivots = aten.linalg_lu_factor(a)
    x = aten.linalg_lu_solve(factors, pivots, rhs, left=left, adjoint=adjoint)
    a = a.mH if adjoint else a
    close(a @ x if left else x @ a, b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_solve(unit, upper, left, kind):
    _, a = matrices((2, 3, 3), kind)
    b, rhs = matrices((2, 3, 3), kind, 1)
    solve = aten.linalg_solve_triangular
    triangle = a.triu() if upper else a.tril()
    if unit:
        triangle = triangle - dispatch.diag_embed(aten.diagonal(a, 0, -2, -1))
        triangle = triangle + dispatch.eye(3, dtype=a.dtype)
    for t in (a, by_columns(a)):
        x = solve(t, rhs, upper=upper, left=left, unitriangular=unit)
        close(triangle @ x if left else x @ triangle, b)
    older, copied = aten.triangular_solve(rhs, a, upper, True, unit)
    close(triangle.mT @ older, b)
    close(copied, a.numpy())


def test_conjugate_triangles_are_read_as_such():
    _, a = matrices((3, 3), "complex128")
    b, rhs = matrices((3, 2), "complex128", 1)
    x = aten.linalg_solve_triangular(a.mH, rhs.conj(), upper=False)
    close(a.triu().mH @ x, b.conj())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_solve_broadcasts(upper, kind):
    _, a = positive((2, 3, 3), kind)
    b, rhs = matrices((3, 2), kind, 1)
    x = aten.cholesky_solve(rhs, aten.linalg_cholesky(a, upper=upper), upper)
    close(a @ x, np.broadcast_to(b, (2, 3, 2)))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: aten.linalg_solve(dispatch.ones(2, 3), dispatch.ones(2)), "square"),
        (
            lambda: aten.linalg_solve(dispatch.ones(2, 2), dispatch.ones(3, 1)),
            "Incompatible shapes of A and B for the",
        ),
        (lambda: aten.linalg_solve(dispatch.eye(2), dispatch.ones(2).double()), "same dtype"),
        (lambda: aten.linalg_solve(dispatch.eye(1), dispatch.ones(1), left=False), "vectors"),
        (lambda: aten.linalg_inv(dispatch.ones(2)), "2 dimensions"),
        (
            lambda: aten.linalg_inv(dispatch.ones(2, 2, dtype=dispatch.int32)),
            "Expected a floating point or complex tensor",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_without_scipy_the_error_names_it():
    program = """
import sys
sys.modules["scipy"] = None
import dispatch
try:
    dispatch.linalg.inv(dispatch.eye(2))
except RuntimeError as error:
    print(error)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "linalg_inv_ex: linear algebra on the CPU needs scipy" in done.stdout
    assert "tensor-dispatch[linalg]" in done.stdout


def test_pivots_that_no_factorisation_gives_are_refused():
    """LAPACK exchanges the rows that it is told to, wherever they are."""
    square = dispatch.eye(3)
    for pivots in ([1, 2, 99], [0, 1, 2], [-5, 1, 1]):
        with pytest.raises(RuntimeError, match="Pivots given to lu_solve must all be smaller"):
            aten.linalg_lu_solve(square, dispatch.tensor(pivots, dtype=dispatch.int32), square)
    for pivots in ([1, 2, 99], [1, 1, -1], [0, 1, 2], [-9, -9, 1], [2**31 - 1] * 3):
        with pytest.raises(RuntimeError, match="expected pivots of ldl_factor"):
            aten.linalg_ldl_solve(square, dispatch.tensor(pivots, dtype=dispatch.int32), square)


def test_factors_of_the_library_itself_are_solved_with():
    symmetric = dispatch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    factors, pivots = aten.linalg_ldl_factor(symmetric)
    assert (pivots < 0).any().item()  # a block of two
    found = aten.linalg_ldl_solve(factors, pivots, dispatch.eye(3))
    np.testing.assert_allclose((symmetric @ found).numpy(), np.eye(3), atol=1e-5)
