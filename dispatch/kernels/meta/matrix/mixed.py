"""Shape functions of products of operands of other dtypes than the result's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOAT8, REDUCED_FLOATING
from dispatch._C.placement import check_together
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "addmm_dtype",
    "baddbmm_dtype",
    "bmm_dtype",
    "int4pack_mm",
    "int4pack_mm_for_cpu",
    "int4pack_mm_with_scales",
    "int8pack_mm",
    "int_mm",
    "int_mm_out",
    "linear_backward",
    "mm_dtype",
    "scaled_mm",
    "scaled_mm_v2",
]

_aten = ops.aten
FLOATS = REDUCED_FLOATING | {dtypes.float32}
_SCALED = FLOAT8 - {dtypes.float8_e8m0fnu}
_GROUPS = (32, 64, 128, 256)
_TENSORWISE, _ROWWISE = 0, 1  # PyTorch's ScalingType


def _check_ndim(name: str, t: Tensor, ndim: int) -> None:
    if t.ndim != ndim:
        raise refused(f"Expected {name} to be of dimension {ndim}, got shape {list(t.shape)}")


def _check_inner(a: Tensor, b: Tensor) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise refused(
            f"self.size(1) needs to match mat2.size(0) to be multiplied, got {list(a.shape)} and "
            f"{list(b.shape)}"
        )


# ---- a dtype for the result --------------------------------------------------------------------


def _check_out_dtype(t: Tensor, kind: dtype) -> None:
    if kind is not t.dtype and not (kind is dtypes.float32 and t.dtype in REDUCED_FLOATING):
        raise refused(f"expected out_dtype to be {t.dtype}, or float32 for 16 bits, got {kind}")


def mm_dtype(self: Tensor, mat2: Tensor, out_dtype: dtype, *, out: Any = None) -> Tensor:
    """16-bit floats give float32, if it is asked for."""
    _check_ndim("self", self, 2)
    _check_ndim("mat2", mat2, 2)
    _check_inner(self, mat2)
    _check_out_dtype(self, out_dtype)
    return _made(out, self if self.is_meta else mat2, [self.shape[0], mat2.shape[1]], out_dtype)


def _made(out: Tensor | None, like: Tensor, sizes: list[Any], kind: dtype) -> Tensor:
    if out is None:
        return _aten.new_empty(like, sizes, dtype=kind)
    if out.dtype is not kind:
        raise refused(f"expected out to be {kind}, got {out.dtype}")
    return out if list(out.shape) == sizes else _aten.resize_(out, sizes)


def bmm_dtype(self: Tensor, mat2: Tensor, out_dtype: dtype, *, out: Any = None) -> Tensor:
    """The same for batches."""
    _check_ndim("self", self, 3)
    _check_ndim("mat2", mat2, 3)
    if self.shape[0] != mat2.shape[0]:
        raise refused(f"batches of {list(self.shape)} and {list(mat2.shape)} differ")
    _check_inner(self, mat2)
    _check_out_dtype(self, out_dtype)
    return _made(out, self if self.is_meta else mat2, [*self.shape[:2], mat2.shape[2]], out_dtype)


def _check_added(self: Tensor, sizes: Sequence[Any]) -> None:
    if tuple(rules.broadcast_shapes(self.shape, sizes)) != tuple(sizes):
        raise refused(f"self of shape {list(self.shape)} does not expand to {list(sizes)}")


def addmm_dtype(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    out_dtype: dtype,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """The same, added to self."""
    check_together(self=self, mat1=mat1)
    made = mm_dtype(mat1, mat2, out_dtype, out=out)
    _check_added(self, made.shape)
    return made


def baddbmm_dtype(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    out_dtype: dtype,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """The same for batches."""
    check_together(self=self, batch1=batch1, batch2=batch2)
    made = bmm_dtype(batch1, batch2, out_dtype, out=out)
    _check_added(self, made.shape)
    return made


# ---- integers ----------------------------------------------------------------------------------


def int_mm(self: Tensor, mat2: Tensor) -> TensorSpec:
    """Bytes, summed in int32."""
    if self.ndim == 2 and mat2.ndim == 1:
        raise refused(f"expected mat2 to be a matrix, got {list(mat2.shape)}", IndexError)
    _check_ndim("self", self, 2)
    _check_ndim("mat2", mat2, 2)
    if self.dtype not in (dtypes.int8, dtypes.uint8):
        raise refused(f"expected self to be int8 or uint8, got {self.dtype}")
    if mat2.dtype is not dtypes.int8:
        raise refused(f"expected mat2 to be int8, got {mat2.dtype}")
    _check_inner(self, mat2)
    return TensorSpec((self.shape[0], mat2.shape[1]), dtypes.int32)


def int_mm_out(self: Tensor, mat2: Tensor, *, out: Tensor) -> Tensor:
    """`out` is as large as the result, and int32."""
    spec = int_mm(self, mat2)
    return _made(out, self if self.is_meta else mat2, list(spec.sizes), dtypes.int32)


def int8pack_mm(self: Tensor, mat2: Tensor, scales: Tensor) -> TensorSpec:
    """Rows of mat2 are int8, each with its scale."""
    _check_ndim("self", self, 2)
    _check_ndim("mat2", mat2, 2)
    if self.dtype not in FLOATS:
        raise refused(f"expected self to be a float of 32 or 16 bits, got {self.dtype}")
    if mat2.dtype is not dtypes.int8:
        raise refused(f"expected mat2 to be int8, got {mat2.dtype}")
    if mat2.shape[1] != self.shape[1]:
        raise refused(f"{list(self.shape)} and {list(mat2.shape)} differ in columns")
    if scales.ndim != 1 or scales.shape[0] != mat2.shape[0]:
        raise refused(f"expected a scale for each of {mat2.shape[0]} rows, got {scales.shape}")
    if rules.is_eager(self) and scales.dtype is not self.dtype:
        raise refused(f"expected scales to be {self.dtype}, got {scales.dtype}")
    return TensorSpec((self.shape[0], mat2.shape[0]), self.dtype)


def _check_int4(self: Tensor, mat2: Tensor, ndim: int, kind: dtype) -> None:
    _check_ndim("self", self, 2)
    _check_ndim("mat2", mat2, ndim)
    if self.dtype not in FLOATS:
        raise refused(f"expected self to be a float of 32 or 16 bits, got {self.dtype}")
    if mat2.dtype is not kind:
        raise refused(f"expected mat2 to be {kind}, got {mat2.dtype}")


def _int4(self: Tensor, mat2: Tensor, ndim: int, kind: dtype, rows: int) -> Tensor:
    _check_int4(self, mat2, ndim, kind)
    return _aten.new_empty(self, [self.shape[0], mat2.shape[0] * rows])


def int4pack_mm(self: Tensor, mat2: Tensor, qGroupSize: int, qScaleAndZeros: Tensor) -> Tensor:
    """mat2 holds eight rows in one, as CUDA wants them."""
    return _int4(self, mat2, 4, dtypes.int32, 8)


def _check_groups(self: Tensor, mat2: Tensor, group: int, scales: Tensor) -> None:
    if self.ndim != 2 or self.dtype not in FLOATS:
        raise refused(f"expected self as a matrix of floats, got {self.dtype} {list(self.shape)}")
    if not self.is_contiguous() or not mat2.is_contiguous():
        raise refused("expected self and mat2 to be contiguous")
    if mat2.ndim != 2 or mat2.dtype is not dtypes.uint8 or mat2.shape[1] * 2 != self.shape[1]:
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
) -> TensorSpec:
    """mat2 holds two numbers in a byte."""
    if rules.is_eager(self):
        _check_groups(self, mat2, qGroupSize, qScaleAndZeros)
    _check_int4(self, mat2, 2, dtypes.uint8)
    return TensorSpec((self.shape[0], mat2.shape[0]), self.dtype)


def int4pack_mm_with_scales(
    self: Tensor, mat2: Tensor, qGroupSize: int, qScale: Tensor, qZeros: Tensor
) -> Tensor:
    """mat2 holds eight numbers in an int32."""
    return _int4(self, mat2, 2, dtypes.int32, 1)


# ---- scaled floats of 8 bits -------------------------------------------------------------------


def _is_tensorwise(scale: Tensor) -> bool:
    return scale.numel() == 1


def _check_scaled(self: Tensor, mat2: Tensor, scale_a: Tensor, scale_b: Tensor) -> None:
    """One scale for each tensor, or one for each row of self and each column of mat2.

    PyTorch's Meta kernel does not compare inner sizes, so expressions are not asked.
    """
    _check_ndim("self", self, 2)
    _check_ndim("mat2", mat2, 2)
    if rules.is_eager(self) or type(self.shape[1]) is type(mat2.shape[0]) is int:
        _check_inner(self, mat2)
    m, n = self.shape[0], mat2.shape[1]
    tensors = _is_tensorwise(scale_a) and _is_tensorwise(scale_b)
    rows = tuple(scale_a.shape) == (m, 1) and tuple(scale_b.shape) == (1, n)
    floats = scale_a.dtype is dtypes.float32 and scale_b.dtype is dtypes.float32
    if self.dtype in _SCALED and mat2.dtype in _SCALED and floats and (tensors or rows):
        return
    raise refused(
        "expected floats of 8 bits with float32 scales, one for each tensor or for each row and "
        f"column, got {self.dtype}, {mat2.dtype}, and scales {scale_a.dtype} of "
        f"{list(scale_a.shape)} and {scale_b.dtype} of {list(scale_b.shape)}",
        ValueError if rules.is_eager(self) else RuntimeError,
    )


def scaled_mm(
    self: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None,
    scale_result: Tensor | None,
    out_dtype: dtype | None,
    use_fast_accum: bool,
) -> TensorSpec:
    """By default in self's dtype."""
    _check_scaled(self, mat2, scale_a, scale_b)
    n = mat2.shape[1]
    if rules.is_eager(self) and bias is not None and bias.numel() != n:
        raise refused(f"expected bias to have {n} elements, got {bias.numel()}")
    return TensorSpec((self.shape[0], n), out_dtype or self.dtype)


def scaled_mm_v2(
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
) -> Shaped:
    """The same with lists; recipes say whether scales are for tensors or for rows."""
    known = ([_TENSORWISE], [_ROWWISE])
    one = len(scale_a) == len(scale_b) == 1
    if not one or list(recipe_a) != list(recipe_b) or list(recipe_a) not in known:
        raise refused(
            f"expected one scale for each operand, of tensors or of rows, got recipes "
            f"{list(recipe_a)} and {list(recipe_b)}",
            ValueError,
        )
    first, second = scale_a[0], scale_b[0]
    spec = scaled_mm(self, mat2, first, second, bias, None, out_dtype, use_fast_accum)
    return Shaped(spec, first, second)


# ---- gradients ---------------------------------------------------------------------------------


def linear_backward(
    self: Tensor, grad_output: Tensor, weight: Tensor, output_mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Those that are asked for; weight and bias come together."""
    grad_input = grad_weight = grad_bias = None
    if output_mask[0]:
        grad_input = _aten.new_empty(grad_output, list(self.shape))
    if output_mask[1] or output_mask[2]:
        rows, columns = grad_output.shape[-1], self.shape[-1]
        grad_weight = _aten.new_empty(grad_output, [rows, columns])
        grad_bias = _aten.new_empty(grad_output, [rows])
    return grad_input, grad_weight, grad_bias
