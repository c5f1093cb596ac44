"""Bodies of products whose operands and results differ in dtype: integers, scaled, packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C.dtypes import dtype, float8_e4m3fn, int32, uint8
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, compute, quiet, store, view
from dispatch.kernels.meta.matrix import mixed as meta

__all__ = [
    "addmm_activation",
    "int4pack_mm_for_cpu",
    "int8pack_mm",
    "int_mm",
    "int_mm_out",
    "scaled_mm",
    "scaled_mm_out",
    "scaled_mm_v2",
    "scaled_mm_v2_out",
]

_aten = ops.aten
_LARGEST_E4M3FN = 448.0
_PACKED_ROWS = 64  # rows of a weight of four bits that lie together
_GROUPS = (32, 64, 128, 256)
_EXACT = 1024  # terms of at most 2 ** 15 whose sum float32 holds


def addmm_activation(
    out: Tensor,
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    beta: Any,
    alpha: Any,
    use_gelu: bool,
) -> None:
    """`addmm`, then relu or gelu."""
    _aten.addmm.out(self, mat1, mat2, beta=beta, alpha=alpha, out=out)
    if use_gelu:
        _aten.gelu_(out)
    else:
        _aten.relu_(out)


def int_mm(out: Tensor, self: Tensor, mat2: Tensor) -> None:
    """Sums are exact in float64, whose product is BLAS's; in float32 as long as there are few."""
    kind = np.float32 if self.shape[1] < _EXACT // 2 else np.float64
    store(out, view(self).astype(kind) @ view(mat2).astype(kind))


def int_mm_out(self: Tensor, mat2: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`, which is not resized."""
    spec = meta.int_mm(self, mat2)
    if out.dtype is not int32 or tuple(out.shape) != spec.sizes:
        raise refused(
            f"expected out to be int32 of {list(spec.sizes)}, got {out.dtype} of {list(out.shape)}"
        )
    int_mm(out, self, mat2)
    return out


@quiet()
def int8pack_mm(out: Tensor, self: Tensor, mat2: Tensor, scales: Tensor) -> None:
    """self times the transposed rows, scaled."""
    store(out, compute(self) @ view(mat2).astype(np.float32).T * compute(scales))


@quiet()
def scaled_mm(
    out: Tensor,
    self: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None,
    scale_result: Tensor | None,
    out_dtype: dtype | None,
    use_fast_accum: bool,
) -> None:
    """In float32, rounded once; scale_result has no part in it, as in PyTorch on the CPU.

    float8_e4m3fn has no infinity: what is too large becomes its largest number.
    """
    product = (compute(self) * view(scale_a)) @ (compute(mat2) * view(scale_b))
    if bias is not None:
        product = product + compute(bias)
    if out.dtype is float8_e4m3fn:
        product = np.clip(product, -_LARGEST_E4M3FN, _LARGEST_E4M3FN)
    store(out, product)


def scaled_mm_out(
    self: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: dtype | None = None,
    use_fast_accum: bool = False,
    *,
    out: Tensor,
) -> Tensor:
    """The same into `out`, in its dtype."""
    spec = meta.scaled_mm(
        self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum
    )
    if tuple(out.shape) != spec.sizes:
        _aten.resize_(out, list(spec.sizes))
    scaled_mm(out, self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
    return out


def scaled_mm_v2(
    out: Tensor,
    self: Tensor,
    mat2: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    bias: Tensor | None,
    out_dtype: dtype | None,
    contraction_dim: Sequence[int],
    use_fast_accum: bool,
    first: Tensor,
    second: Tensor,
) -> None:
    """The same with lists of scales."""
    scaled_mm(out, self, mat2, first, second, bias, None, out_dtype, use_fast_accum)


def scaled_mm_v2_out(
    self: Tensor,
    mat2: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    bias: Tensor | None,
    out_dtype: dtype | None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
    *,
    out: Tensor,
) -> Tensor:
    """The same into `out`, in its dtype."""
    meta.scaled_mm_v2(
        *(self, mat2, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias),
        *(out_dtype, contraction_dim, use_fast_accum),
    )
    return scaled_mm_out(self, mat2, scale_a[0], scale_b[0], bias, None, out_dtype, out=out)


# ---- weights of four bits, packed for AVX-512: `_convert_weight_to_int4pack_for_cpu` -------------


def _unpacked(packed: Array, rows: int, columns: int) -> Array:
    """The numbers, (rows, columns): 64 rows together, half of them in the low bits; else pairs."""
    flat = packed.reshape(-1)
    numbers = np.empty((rows, columns), np.float32)
    for first in range(0, rows, _PACKED_ROWS):
        count = min(_PACKED_ROWS, rows - first)
        block = flat[first * columns // 2 : (first + count) * columns // 2]
        block = block.reshape(columns, count // 2)
        low, high = block & 15, block >> 4
        to = numbers[first : first + count]
        if count == _PACKED_ROWS:
            to[: _PACKED_ROWS // 2], to[_PACKED_ROWS // 2 :] = low.T, high.T
        else:
            to[0::2], to[1::2] = low.T, high.T
    return numbers


def _check_groups(self: Tensor, mat2: Tensor, group: int, scales: Tensor) -> None:
    if self.ndim != 2 or self.dtype not in meta.FLOATS:
        raise refused(f"expected self as a matrix of floats, got {self.dtype} {list(self.shape)}")
    if not self.is_contiguous() or not mat2.is_contiguous():
        raise refused("expected self and mat2 to be contiguous")
    if mat2.ndim != 2 or mat2.dtype is not uint8 or mat2.shape[1] * 2 != self.shape[1]:
        raise refused(
            f"expected mat2 as uint8 with {self.shape[1] // 2} columns, got {mat2.dtype} "
            f"{list(mat2.shape)}"
        )
    if group not in _GROUPS or self.shape[1] % group:
        raise refused(
            f"expected qGroupSize to be one of {list(_GROUPS)} and to divide {self.shape[1]}, "
            f"got {group}"
        )
    wanted = [self.shape[1] // group, mat2.shape[0], 2]
    if scales.dtype is not self.dtype or list(scales.shape) != wanted:
        raise refused(
            f"expected qScaleAndZeros of {self.dtype} {wanted}, got {scales.dtype} "
            f"{list(scales.shape)}"
        )


def int4pack_mm_for_cpu(
    self: Tensor, mat2: Tensor, qGroupSize: int, qScaleAndZeros: Tensor
) -> Tensor:
    """self @ weight.T; a weight is its number less 8 times the group's scale, plus its zero."""
    _check_groups(self, mat2, qGroupSize, qScaleAndZeros)
    rows, columns = mat2.shape[0], self.shape[1]
    numbers = _unpacked(view(mat2), rows, columns).reshape(rows, -1, qGroupSize) - 8
    scales, zeros = np.moveaxis(compute(qScaleAndZeros), 2, 0)
    weight = numbers * scales.T[:, :, None] + zeros.T[:, :, None]
    out: Tensor = _aten.new_empty(self, [self.shape[0], rows])
    store(out, compute(self) @ weight.reshape(rows, columns).T)
    return out
