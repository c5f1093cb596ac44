"""Bodies of products of scaled operands, or followed by a function; and one into a given output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C.dtypes import dtype, float8_e4m3fn, int32
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import compute, quiet, store, view
from dispatch.kernels.meta.matrix import mixed as meta

__all__ = [
    "addmm_activation",
    "int_mm_out",
    "scaled_mm",
    "scaled_mm_out",
    "scaled_mm_v2",
    "scaled_mm_v2_out",
]

_aten = ops.aten
_LARGEST_E4M3FN = 448.0


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


def int_mm_out(self: Tensor, mat2: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`, which is not resized."""
    spec = meta.int_mm(self, mat2)
    if out.dtype is not int32 or tuple(out.shape) != spec.sizes:
        raise refused(
            f"expected out to be int32 of {list(spec.sizes)}, got {out.dtype} of {list(out.shape)}"
        )
    return _aten.copy_(out, _aten._int_mm(self, mat2))


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
