"""Shapes and strides of linear algebra, as recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

import dispatch

aten = dispatch.ops.aten


def meta(*sizes, dtype=dispatch.float32):
    return dispatch.empty(*sizes, device="meta", dtype=dtype)


def described(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(tuple(t.shape), t.stride()) for t in results]


A, WIDE, TALL = meta(2, 3, 3), meta(2, 3, 4), meta(2, 4, 3)
SQUARE = ((2, 3, 3), (9, 1, 3))
INFO = ((2,), (1,))
PIVOTS = ((2, 3), (3, 1))


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda: aten.linalg_cholesky_ex(A), [SQUARE, INFO]),
        (lambda: aten.linalg_inv_ex(A), [SQUARE, INFO]),
        (lambda: aten.linalg_ldl_factor_ex(A), [SQUARE, PIVOTS, INFO]),
        (lambda: aten._linalg_det(A), [INFO, SQUARE, PIVOTS]),
        (lambda: aten._linalg_slogdet(A), [INFO, INFO, SQUARE, PIVOTS]),
        (lambda: aten._linalg_eigh(A), [PIVOTS, SQUARE]),
        (lambda: aten.linalg_eig(A), [PIVOTS, SQUARE]),
        (lambda: aten.linalg_lu_factor_ex(WIDE), [((2, 3, 4), (12, 1, 3)), PIVOTS, INFO]),
        (
            lambda: aten.linalg_lu(WIDE),
            [((2, 3, 3), (9, 3, 1)), ((2, 3, 3), (9, 3, 1)), ((2, 3, 4), (12, 4, 1))],
        ),
        (lambda: aten.linalg_qr(TALL), [((2, 4, 3), (12, 1, 4)), SQUARE]),
        (
            lambda: aten.linalg_qr(TALL, "complete"),
            [((2, 4, 4), (16, 1, 4)), ((2, 4, 3), (12, 1, 4))],
        ),
        (lambda: aten._linalg_svd(TALL), [((2, 4, 3), (12, 1, 4)), PIVOTS, SQUARE]),
        (lambda: aten._linalg_svd(TALL, False, False), [((0,), (1,)), PIVOTS, ((0,), (1,))]),
        (
            lambda: aten._linalg_solve_ex(A, WIDE),
            [((2, 3, 4), (12, 1, 3)), SQUARE, PIVOTS, INFO],
        ),
        (
            lambda: aten._linalg_solve_ex(A, TALL, left=False),
            [((2, 4, 3), (12, 3, 1)), SQUARE, PIVOTS, INFO],
        ),
        (lambda: aten.linalg_solve_triangular(A, WIDE, upper=True), [((2, 3, 4), (12, 1, 3))]),
        (lambda: aten.linalg_matrix_exp(A), [((2, 3, 3), (9, 3, 1))]),
    ],
)
def test_shapes_and_strides(call, want):
    assert described(call()) == want


def test_values_are_real_and_eigenvalues_complex():
    a = meta(3, 3, dtype=dispatch.complex64)
    assert aten._linalg_eigh(a)[0].dtype is dispatch.float32
    assert aten._linalg_svd(a)[1].dtype is dispatch.float32
    assert aten.linalg_eig(meta(3, 3))[0].dtype is dispatch.complex64


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: aten.linalg_lu_factor_ex(meta(3)), "2 dimensions"),
        (lambda: aten.linalg_inv_ex(meta(2, 3)), "square"),
        (lambda: aten.linalg_qr(A, "x"), "'x'"),
        (lambda: aten._linalg_eigh(A, "x"), "UPLO"),
        (lambda: aten.lu_unpack(A, meta(2, 3)), "int32"),
        (lambda: aten.linalg_lu_solve(A, meta(2, 3), WIDE), "int32"),
        (lambda: aten.linalg_lu_solve(A, meta(3, dtype=dispatch.int32), WIDE), "pivots of shape"),
        (lambda: aten.linalg_householder_product(WIDE, meta(2, 3)), "greater than or equal to"),
        (lambda: aten.linalg_householder_product(TALL, meta(3)), "one dimension less"),
        (lambda: aten.ormqr(TALL, meta(2, 3), A), r"tau\.shape\[-1\] must be equal to"),
        (lambda: aten.cholesky_solve(meta(2, 3), meta(2, 3, 4)), "square"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        aten.linalg_cholesky_ex,
        aten.linalg_inv_ex,
        aten._linalg_det,
        aten._linalg_eigh,
        aten.linalg_eig,
        aten.linalg_ldl_factor_ex,
        aten.linalg_matrix_exp,
        lambda a: aten._linalg_solve_ex(a, dispatch.ones(2, 2, device=a.device)),
    ],
)
def test_meta_kernels_of_square_matrices_assert_their_dimensions(call):
    with pytest.raises(AssertionError, match="at least 2 dimensions, got shape"):
        call(meta(2))
    with dispatch.FakeTensorMode(), pytest.raises(AssertionError, match="at least 2 dimensions"):
        call(dispatch.ones(2))
    with pytest.raises(RuntimeError, match="at least 2 dimensions, got shape"):
        call(dispatch.ones(2))


@pytest.mark.parametrize(
    "call", [aten.linalg_svd, aten.linalg_lu, aten.logdet, lambda a: aten.linalg_matrix_power(a, 2)]
)
def test_others_refuse_vectors_on_meta_as_with_data(call):
    for vector in (meta(2), dispatch.ones(2)):
        with pytest.raises(RuntimeError, match="at least 2 dimensions"):
            call(vector)
