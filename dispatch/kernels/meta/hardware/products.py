"""Shapes of products of semi-structured sparse and of packed 4-bit matrices.

The kernels belong to devices; their results have metadata on any.
"""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor

__all__ = [
    "cslt_sparse_mm",
    "dyn_quant_matmul_4bit",
    "dyn_quant_pack_4bit_weight",
    "sparse_semi_structured_addmm",
    "sparse_semi_structured_linear",
    "sparse_semi_structured_mm",
]

_CSLT = (
    dtypes.float32,
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.int8,
    dtypes.float8_e4m3fn,
)
_CSLT_OUT = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.int32,
    dtypes.float8_e4m3fn,
)


def _check(holds: bool, text: str) -> None:
    if not holds:
        raise refused(text, AssertionError)


def _check_matrices(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        _check(tensor.ndim == 2, f"expected {name} to be a matrix, got shape {list(tensor.shape)}")


def _result(kind: dtypes.dtype, out_dtype: dtypes.dtype | None) -> dtypes.dtype:
    if out_dtype is None:
        return kind
    wide = kind is dtypes.int8 and out_dtype is dtypes.int32
    _check(wide, f"out_dtype {out_dtype} is for products of int8 in int32, got {kind}")
    return out_dtype


def sparse_semi_structured_linear(
    input: Tensor,
    weight: Tensor,
    meta: Tensor,
    bias: Tensor | None,
    activation: str | None,
    out_dtype: dtypes.dtype | None,
) -> TensorSpec:
    """Column by column: the product is computed transposed."""
    if bias is not None:
        _check(weight.size(0) == bias.size(0), f"bias of {bias.size(0)} for {weight.size(0)} rows")
    fits = 2 * weight.size(1) == input.size(-1)
    _check(fits, f"weight {list(weight.shape)} does not fit input {list(input.shape)}")
    _check_matrices(input=input)
    kind = _result(input.dtype, out_dtype)
    return TensorSpec((input.size(0), weight.size(0)), kind, (1, input.size(0)))


def sparse_semi_structured_mm(
    mat1: Tensor, mat1_meta: Tensor, mat2: Tensor, out_dtype: dtypes.dtype | None
) -> TensorSpec:
    """Rows of `mat1`, which holds half of its columns, by columns of `mat2`."""
    _check_matrices(mat1=mat1, mat1_meta=mat1_meta, mat2=mat2)
    fits = 2 * mat1.size(1) == mat2.size(0)
    _check(fits, f"mat1 {list(mat1.shape)} does not fit mat2 {list(mat2.shape)}")
    return TensorSpec((mat1.size(0), mat2.size(1)), _result(mat2.dtype, out_dtype))


def sparse_semi_structured_addmm(
    input: Tensor,
    mat1: Tensor,
    mat1_meta: Tensor,
    mat2: Tensor,
    alpha: Any,
    beta: Any,
    out_dtype: dtypes.dtype | None,
) -> TensorSpec:
    """The same with a number for each row added."""
    _check(input.ndim == 1, f"expected input to be a vector, got shape {list(input.shape)}")
    _check_matrices(mat1=mat1, mat1_meta=mat1_meta, mat2=mat2)
    _check(input.size(0) == mat1.size(0), f"input of {input.size(0)} for {mat1.size(0)} rows")
    return sparse_semi_structured_mm(mat1, mat1_meta, mat2, out_dtype)


def cslt_sparse_mm(
    compressed_A: Tensor,
    dense_B: Tensor,
    bias: Tensor | None,
    alpha: Tensor | None,
    out_dtype: dtypes.dtype | None,
    transpose_result: bool,
    alg_id: int,
    split_k: int,
    split_k_mode: int,
) -> TensorSpec:
    """Rows of the compressed matrix by columns of the dense one, or transposed."""
    kind = dense_B.dtype
    _check(kind in _CSLT, f"dense_B of dtype {kind} is not supported")
    _check(compressed_A.dtype is kind, f"expected one dtype, got {compressed_A.dtype} and {kind}")
    _check_matrices(dense_B=dense_B)
    rows, columns = compressed_A.size(0), dense_B.size(1)
    if bias is not None:
        _check(bias.size(0) == rows, f"bias of {bias.size(0)} for {rows} rows")
    if out_dtype is not None:
        short = kind in (dtypes.int8, dtypes.float8_e4m3fn)
        _check(short and out_dtype in _CSLT_OUT, f"out_dtype {out_dtype} is not for {kind}")
    sizes = (columns, rows) if transpose_result else (rows, columns)
    return TensorSpec(sizes, out_dtype or kind)


def dyn_quant_pack_4bit_weight(
    weights: Tensor,
    scales_zeros: Tensor,
    bias: Tensor | None,
    block_size: int,
    in_features: int,
    out_features: int,
) -> TensorSpec:
    """All of them in one row of floats."""
    if weights.dtype is not dtypes.uint8:
        raise refused(f"expected weights of uint8, got {weights.dtype}")
    count = weights.numel() + scales_zeros.numel() + (0 if bias is None else bias.numel())
    return TensorSpec((count,), dtypes.float32)


def dyn_quant_matmul_4bit(
    inp: Tensor, packed_weights: Tensor, block_size: int, in_features: int, out_features: int
) -> TensorSpec:
    """A row of features for each row of `inp`."""
    if inp.ndim != 2:
        raise refused(f"expected inp to be a matrix, got shape {list(inp.shape)}")
    short = inp.dtype is dtypes.bfloat16 and block_size == in_features
    if inp.dtype is not dtypes.float32 and not short:
        raise refused(f"inp of dtype {inp.dtype} is not supported for blocks of {block_size}")
    return TensorSpec((inp.size(0), out_features), inp.dtype)
