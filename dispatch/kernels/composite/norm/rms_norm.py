"""rms_norm: rows over the root of their mean square, written with operators.

Called for the composite operators. 16-bit floats are computed in float32 and rounded at the end.
"""

from __future__ import annotations

import struct
import warnings

from dispatch._C.dtypes import (
    bfloat16,
    complex64,
    complex128,
    contiguous_format,
    dtype,
    float16,
    float32,
    float64,
)
from dispatch._C.errors import refused, unserved
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["_fused_rms_norm", "rms_norm"]

_aten = ops.aten
_WIDE: dict[dtype, dtype] = {
    float16: float32,
    bfloat16: float32,
    float32: float32,
    float64: float64,
    complex64: complex64,
    complex128: complex128,
}


def _check(input: Tensor, normalized_shape: list[int], weight: Tensor | None) -> None:
    shape = list(normalized_shape)
    if not shape:
        raise refused("Expected normalized_shape to be at least 1-dimensional, got []")
    if weight is not None and list(weight.shape) != shape:
        raise refused(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {shape}"
        )
    if input.ndim < len(shape) or list(input.shape)[input.ndim - len(shape) :] != shape:
        raise refused(
            f"Given normalized_shape={shape}, expected input with shape [*, {str(shape)[1:]}, "
            f"but got input of size{list(input.shape)}"
        )


def _fused_rms_norm(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """The result and 1 / root of the mean square of each row."""
    kind = _WIDE.get(input.dtype)
    if kind is None:
        raise unserved(input.dtype)
    if eps is None:
        eps = 2.0**-52 if kind in (float64, complex128) else 2.0**-23
    elif kind not in (float64, complex128):
        (eps,) = struct.unpack("f", struct.pack("f", eps))
    values = _aten.to.dtype(input, kind)
    dims = [input.ndim - 1 - i for i in range(len(normalized_shape))]
    squares = _aten.mean.dim(_aten.pow.Tensor_Scalar(values, 2), dims, True)
    scale = _aten.rsqrt(_aten.add_.Scalar(squares, eps))
    result = _aten.mul.Tensor(values, scale)
    if weight is not None:
        result = _aten.mul.Tensor(result, weight)
    if rules.suggest_memory_format(input) is contiguous_format:
        result = _aten.contiguous(result)
    return _aten.type_as(result, input), scale


def rms_norm(
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """input over the root of the mean square of its last dimensions, times `weight`."""
    _check(input, normalized_shape, weight)
    if weight is not None and weight.dtype is not input.dtype:
        warnings.warn(
            f"rms_norm: input is {input.dtype}, weight {weight.dtype}: not fused", stacklevel=2
        )
    return _fused_rms_norm(input, normalized_shape, weight, eps)[0]
