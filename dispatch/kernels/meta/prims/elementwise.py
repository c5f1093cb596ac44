"""Shapes of the elementwise `prims`: nothing is broadcast and nothing promoted.

Called by the Meta kernels, and by the composite kernels for the checks, because the operators of
`aten` that compute the values take more (torch._prims, `_prim_elementwise_meta`). A number goes
with any tensor, and so does a tensor on the CPU without dimensions, if its dtype is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["boolean", "complex_same", "fill", "real", "real_of", "same", "where"]

_REAL = {
    dtypes.complex32: dtypes.float16,
    dtypes.complex64: dtypes.float32,
    dtypes.complex128: dtypes.float64,
}


def real_of(kind: dtypes.dtype) -> dtypes.dtype:
    """The dtype of the parts of a complex one, any other as it is."""
    return _REAL.get(kind, kind)


def _is_loose(value: Any) -> bool:
    return not isinstance(value, Tensor) or (value.ndim == 0 and value.device.type == "cpu")


def _check_dtypes(tensors: Sequence[Tensor]) -> None:
    kind = tensors[0].dtype
    for tensor in tensors:
        if tensor.dtype is not kind:
            raise refused(f"expected the same dtype, got {kind} and {tensor.dtype}")


def _check_shapes(values: Sequence[Any]) -> Tensor:
    """The tensor that decides shape and device."""
    firm = [value for value in values if not _is_loose(value)]
    if not firm:
        first: Tensor = next(value for value in values if isinstance(value, Tensor))
        return first
    for other in firm:
        if other.device != firm[0].device:
            raise refused(f"expected one device, got {firm[0].device} and {other.device}")
        if other.shape != firm[0].shape:
            raise refused(
                f"expected the same shape, got {list(firm[0].shape)} and {list(other.shape)}"
            )
    return firm[0]


def _spec(values: Sequence[Any], kind: dtypes.dtype) -> TensorSpec:
    leader = _check_shapes(values)
    tensors = [value for value in values if isinstance(value, Tensor)]
    strides = rules.elementwise_strides_meta(leader.shape, tensors, kind)
    return TensorSpec(leader.shape, kind, strides, device=leader.device)


def _kind(values: Sequence[Any]) -> dtypes.dtype:
    tensors = [value for value in values if isinstance(value, Tensor)]
    _check_dtypes(tensors)
    return tensors[0].dtype


def same(*values: Any) -> TensorSpec:
    """The dtype of the operands."""
    return _spec(values, _kind(values))


def boolean(*values: Any) -> TensorSpec:
    """True and False, for operands of one dtype."""
    _kind(values)
    return _spec(values, dtypes.bool)


def real(self: Tensor) -> TensorSpec:
    """The dtype of a complex operand's parts."""
    return _spec((self,), real_of(self.dtype))


def complex_same(self: Tensor) -> TensorSpec:
    """The dtype of an operand that is complex."""
    if not self.dtype.is_complex:
        raise refused(f"expected a complex dtype, got {self.dtype}")
    return same(self)


def fill(self: Tensor, value: Any) -> TensorSpec:
    """As self, whatever the number is."""
    return same(self)


def where(pred: Tensor, a: Any, b: Any) -> TensorSpec:
    """As `a` and `b`; the condition has their shape."""
    return _spec((pred, a, b), _kind((a, b)))
