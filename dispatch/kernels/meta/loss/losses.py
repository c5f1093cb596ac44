"""Shape functions of losses and norms. `reduction`: 0 none, 1 the mean, 2 the sum."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "huber_loss",
    "mse_loss",
    "smooth_l1_loss",
]


def _refuse_on_meta(self: Tensor, *kinds: dtypes.dtype) -> None:
    if self.dtype in kinds and not rules.is_eager(self):
        raise refused(f"self of dtype {self.dtype} is not supported")


def _elementwise(self: Tensor, target: Tensor, reduction: int) -> TensorSpec:
    kind = rules.result_type(self, target)
    sizes = rules.broadcast_shapes(self.shape, target.shape)
    if reduction:
        return TensorSpec((), kind, cast="safe")
    find = rules.elementwise_strides if rules.is_eager(self) else rules.elementwise_strides_meta
    return TensorSpec(sizes, kind, find(sizes, (self, target), kind), cast="safe")


def mse_loss(self: Tensor, target: Tensor, reduction: int) -> TensorSpec:
    """Broadcast, or one number."""
    kind = rules.result_type(self, target)
    if reduction == 1 and not (kind.is_floating_point or kind.is_complex or rules.is_eager(self)):
        raise refused(f"the mean of {kind} is not defined")
    return _elementwise(self, target, reduction)


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int, beta: float) -> TensorSpec:
    """Broadcast, or one number."""
    if beta < 0:
        raise refused(f"smooth_l1_loss does not support negative values for beta, got {beta}")
    _refuse_on_meta(self, dtypes.bool)
    return _elementwise(self, target, reduction)


def huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> TensorSpec:
    """Broadcast, or one number."""
    if delta <= 0:
        raise refused(f"huber_loss does not support non-positive values for delta, got {delta}")
    _refuse_on_meta(self, dtypes.bool)
    spec = _elementwise(self, target, reduction)
    if not rules.is_eager(self) or spec.dtype is self.dtype:
        return spec
    if not dtypes.can_cast(spec.dtype, self.dtype):
        raise refused(f"{spec.dtype} cannot be cast to {self.dtype}")
    return TensorSpec(spec.sizes, self.dtype, spec.strides, cast="safe")


def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> TensorSpec:
    """self's sizes, or one number; the reference broadcasts."""
    _refuse_on_meta(self, dtypes.bool)
    if reduction:
        return TensorSpec((), self.dtype, copied=True)
    if rules.is_eager(self):
        return TensorSpec(self.shape, self.dtype, rules.dense_like_strides(self), copied=True)
    operands = (target, self) if weight is None else (target, self, weight)
    sizes = rules.broadcast_shapes(*(t.shape for t in operands))
    strides = rules.elementwise_strides_meta(sizes, operands, self.dtype)
    return TensorSpec(sizes, self.dtype, strides, copied=True)


def binary_cross_entropy_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> TensorSpec:
    """As self; all operands are broadcast to its shape."""
    operands = (grad_output, self, target, *(() if weight is None else (weight,)))
    sizes = rules.broadcast_shapes(*(t.shape for t in operands))
    if not rules.is_eager(self):
        kind = rules.result_type(*operands)
        return TensorSpec(sizes, kind, rules.elementwise_strides_meta(sizes, operands, kind))
    if any(t.dtype is not self.dtype for t in operands):
        raise refused(f"expected {self.dtype} for all, got {[t.dtype for t in operands]}")
    if sizes != tuple(self.shape):
        raise refused(f"operands of shape {list(sizes)} do not fit self {list(self.shape)}")
    return TensorSpec(self.shape, self.dtype, rules.dense_like_strides(self))
