"""Shape functions of activations with more than one operand or result. On every device."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["glu", "glu_backward", "log_sigmoid", "masked_scale", "prelu_kernel"]


def glu(self: Tensor, dim: int) -> TensorSpec:
    """Half as long along `dim`."""
    if self.ndim == 0:
        raise refused("expected self to have at least one dimension")
    dim = rules.wrap_dim(dim, self.ndim)
    if self.shape[dim] % 2:
        raise refused(
            f"Halving dimension must be even, but dimension {dim} is size {self.shape[dim]}"
        )
    sizes = list(self.shape)
    sizes[dim] //= 2
    half = rules.dense_strides(sizes, self.stride())
    strides = None if rules.is_contiguous(sizes, half) else half
    return TensorSpec(sizes, self.dtype, strides, cast="safe")


def log_sigmoid(self: Tensor) -> tuple[TensorSpec, TensorSpec]:
    """The result, and a buffer for the backward on the CPU."""
    if self.dtype is dtypes.bool and not rules.is_eager(self):
        raise refused("self must not be a bool tensor")
    strides = None if rules.is_eager(self) else rules.empty_like_strides(self)
    buffer = tuple(self.shape) if rules.device_type(self) in ("cpu", "meta") else (0,)
    return (
        TensorSpec(self.shape, self.dtype, strides),
        TensorSpec(buffer, self.dtype, strides if len(buffer) == self.ndim else None),
    )


def masked_scale(self: Tensor, mask: Tensor, scale: float) -> Tensor:
    """Dropout's gradient, which has a kernel on accelerators alone."""
    strides = rules.strides_for(self.shape, rules.suggest_memory_format(self))
    return self.new_empty_strided(self.shape, strides)


def prelu_kernel(self: Tensor, weight: Tensor) -> TensorSpec:
    """Broadcast; without data dtypes are promoted, as in PyTorch's decomposition."""
    sizes = rules.broadcast_shapes(self.shape, weight.shape)
    if rules.is_eager(self):
        if self.dtype is not weight.dtype:
            raise refused(f"expected weight to be {self.dtype}, got {weight.dtype}")
        strides = (
            rules.dense_like_strides(self)
            if list(sizes) == list(self.shape)
            else rules.elementwise_strides(sizes, (self, weight), self.dtype)
        )
        return TensorSpec(sizes, self.dtype, strides)
    kind = rules.result_type(self, weight)
    return TensorSpec(
        sizes, kind, rules.elementwise_strides_meta(sizes, (self, weight), kind)
    )


def glu_backward(grad_output: Tensor, self: Tensor, dim: int) -> TensorSpec:
    """As self is, for a gradient of half its size."""
    halved = glu(self, dim)
    if tuple(grad_output.shape) != tuple(halved.sizes):
        want, got = list(halved.sizes), list(grad_output.shape)
        raise refused(f"expected grad_output of the shape {want} of the result, got {got}")
    return TensorSpec(self.shape, self.dtype)
