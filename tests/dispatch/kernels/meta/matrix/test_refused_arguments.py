"""Products, solvers and decompositions refuse what does not fit, with PyTorch's type of error."""

import pytest

import dispatch
from tests.dispatch.refused import (
    A,
    P,
    bf16,
    check_refused,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    o,
    tensor,
    u8,
    z,
)  # fmt: skip

CALLS = [
    (
        lambda: A.linalg_eig(o(2, 2, dtype=f16)),
        NotImplementedError,
        "no CPU kernel for dispatch.float16",
    ),
    (
        lambda: A.linalg_eigvals(o(2, 2, dtype=bf16)),
        NotImplementedError,
        "no CPU kernel for dispatch.bfloat16",
    ),
    (
        lambda: A.linalg_solve(o(2), o(2)),
        RuntimeError,
        "The input tensor A must have at least 2 dimensions, got shape [2]",
    ),
    (
        lambda: A.linalg_lu_solve(o(2, 2), z(2, dtype=i32), o(2)),
        RuntimeError,
        "The input tensor B must have at least 2 dimensions, got shape [2]",
    ),
    (
        lambda: A.linalg_solve_triangular(o(2), o(2, 2), upper=True),
        RuntimeError,
        "The input tensor self must have at least 2 dimensions, got shape [2]",
    ),
    (
        lambda: A.triangular_solve(o(2, 2), o(2)),
        RuntimeError,
        "The input tensor A must have at least 2 dimensions, got shape [2]",
    ),
    (
        lambda: A.cholesky_solve(o(2, 2), o(2)),
        RuntimeError,
        "u should have at least 2 dimensions, but has 1 instead",
    ),
    (
        lambda: A.ormqr(o(2, 2, 2), o(2, 2), o(3, 2, 2)),
        RuntimeError,
        "expected self and input3 of one batch, got [2, 2, 2] and [3",
    ),
    (
        lambda: A.ormqr(o(2, 2), o(2), o(3, 2, 2)),
        RuntimeError,
        "expected self and input3 of one batch, got [2, 2] and [3, 2",
    ),
    (
        lambda: A._grouped_mm(o(2, 2, dtype=f64), o(2, 2, dtype=f64), tensor([1, 2], dtype=i32)),
        RuntimeError,
        "expected self to be bfloat16, got dispatch.float64",
    ),
    (
        lambda: A._grouped_mm(o(8, dtype=bf16), o(8, 8, dtype=bf16)),
        RuntimeError,
        "expected self to have 2 or 3 dimensions, got shape [8]",
    ),
    (
        lambda: A._grouped_mm(o(8, 8, dtype=bf16), o(8, 8, dtype=bf16), tensor([1, 2])),
        RuntimeError,
        "expected offs to be int32 of 1 dimension, got dispatch.int64",
    ),
    (
        lambda: A._grouped_mm(o(2, 8, 8, dtype=bf16), o(2, 8, 8, dtype=bf16).mT, None, o(8)),
        RuntimeError,
        "expected bias to be None, it is not supported",
    ),
    (
        lambda: A._grouped_mm(o(2, 8, 8, dtype=bf16), o(2, 8, 8, dtype=bf16).mT, None, None, f32),
        RuntimeError,
        "expected out_dtype to be self's, got dispatch.float32",
    ),
    (
        lambda: A.bmm(
            o(2, 2, 2, dtype=f16, device="meta"), o(3, 2, 2, dtype=f16, device="meta"), f32
        ),
        RuntimeError,
        "batches of [2, 2, 2] and [3, 2, 2] differ",
    ),
    (
        lambda: A._int_mm(o(2, 2, dtype=i8), o(2, dtype=i8)),
        IndexError,
        "expected mat2 to be a matrix, got [2]",
    ),
    (
        lambda: A._int_mm(o(2, 2), o(2, 2)),
        RuntimeError,
        "expected self to be int8 or uint8, got dispatch.float32",
    ),
    (
        lambda: A._weight_int8pack_mm(o(2, 2, dtype=f64), o(2, 2, dtype=i8), o(2)),
        RuntimeError,
        "expected self to be a float of 32 or 16 bits, got",
    ),
    (
        lambda: A._weight_int8pack_mm(o(2, 2), o(2, 3, dtype=i8), o(2)),
        RuntimeError,
        "[2, 2] and [2, 3] differ in columns",
    ),
    (
        lambda: A._weight_int8pack_mm(o(2, 2), o(2, 2, dtype=i8), o(2, dtype=bf16)),
        RuntimeError,
        "expected scales to be dispatch.float32, got dispatch.bfloat16",
    ),
    (
        lambda: A._weight_int4pack_mm_for_cpu(
            o(2, 32, dtype=f64), o(16, 16, dtype=u8), 32, o(1, 16, 2)
        ),
        RuntimeError,
        "expected self as a matrix of floats, got dispatch.float64 [2",
    ),
    (
        lambda: A._scaled_mm(
            o(16, 16).to(dispatch.float8_e4m3fn),
            o(16, 16).to(dispatch.float8_e4m3fn).t(),
            tensor(1.0),
            tensor(1.0),
            o(3),
        ),
        RuntimeError,
        "expected bias to have 16 elements, got 3",
    ),
    (
        lambda: A.addbmm(o(2, 2), o(2, 2), o(2, 2)),
        IndexError,
        "expected batches of matrices, got [2, 2] and [2, 2]",
    ),
    (
        lambda: A._addmm_activation(o(2), o(2), o(2)),
        RuntimeError,
        "expected matrices, got [2] and [2]",
    ),
    (
        lambda: P.svd(o(2), full_matrices=True),
        RuntimeError,
        "expected A to be matrices, got shape [2]",
    ),
    (
        lambda: P.svd(o(2, 2, dtype=f16), full_matrices=True),
        RuntimeError,
        "expected a floating or complex dtype of 32 bits or more, got",
    ),
    (
        lambda: P.svd(o(2, 2, dtype=i64), full_matrices=True),
        RuntimeError,
        "expected a floating or complex dtype of 32 bits or more, got",
    ),
    (
        lambda: A.addbmm(o(2, 2), o(2, 2, 2), o(2, 2)),
        IndexError,
        "expected batches of matrices, got [2, 2, 2] and [2, 2]",
    ),
    (
        lambda: A.addbmm(o(2, 2), o(2, 2), o(2, 2, 2)),
        RuntimeError,
        "expected batches of matrices, got [2, 2] and [2, 2, 2]",
    ),
    (
        lambda: A.addbmm(o(2, 2), o(2, 2, 2, 2), o(2, 2, 2, 2)),
        RuntimeError,
        "expected batches of matrices, got [2, 2, 2, 2] and [2, 2, 2",
    ),
    (
        lambda: A.addbmm(o(2, 2, device="meta"), o(2, 2, device="meta"), o(2, 2, 2, device="meta")),
        RuntimeError,
        "expected batches of matrices, got [2, 2] and [2, 2, 2]",
    ),
    (
        lambda: A.addbmm(o(2, 2, 2), o(2, 2, 2), o(2, 2, 2)),
        RuntimeError,
        "self of shape [2, 2, 2] does not fit (2, 2)",
    ),
    (
        lambda: A.addbmm(o(1, 2, 2), o(2, 2, 2), o(2, 2, 2)),
        RuntimeError,
        "self of shape [1, 2, 2] does not fit (2, 2)",
    ),
    (
        lambda: A._weight_int4pack_mm_for_cpu(
            o(32, 2, dtype=bf16).t(), o(16, 16, dtype=u8), 32, o(1, 16, 2, dtype=bf16)
        ),
        RuntimeError,
        "expected self and mat2 to be contiguous",
    ),
    (
        lambda: A._weight_int4pack_mm_for_cpu(
            o(2, 32, dtype=bf16), o(16, 15, dtype=u8), 32, o(1, 16, 2, dtype=bf16)
        ),
        RuntimeError,
        "expected mat2 as uint8 with 16 columns, got dispatch.uint8",
    ),
    (
        lambda: A._weight_int4pack_mm_for_cpu(
            o(2, 32, dtype=bf16), o(16, 16, dtype=i8), 32, o(1, 16, 2, dtype=bf16)
        ),
        RuntimeError,
        "expected mat2 as uint8 with 16 columns, got dispatch.int8",
    ),
    (
        lambda: A.linalg_eig(o(2, 2, dtype=i64)),
        RuntimeError,
        "Unknown Complex ScalarType for Long",
    ),
    (
        lambda: A._linalg_eigvals(o(2, 2, dtype=i64)),
        RuntimeError,
        "Unknown Complex ScalarType for Long",
    ),
    (
        lambda: A.linalg_eigvals(o(2, 2, dtype=i64)),
        RuntimeError,
        "Unknown Complex ScalarType for Long",
    ),
    (
        lambda: A._linalg_eigvals(o(2, 2, dtype=i64, device="meta")),
        RuntimeError,
        "Unknown Complex ScalarType for Long",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
