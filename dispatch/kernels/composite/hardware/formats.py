"""What is asked of hardware and formats, answered for a machine that has a CPU only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import REDUCED_FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "autocast_to_full_precision",
    "autocast_to_reduced_precision",
    "cudnn_is_acceptable",
    "dequantize_self",
    "is_distributed",
    "is_vulkan_available",
    "make_dep_token",
    "nnpack_available",
    "propagate_xla_data",
    "to_mkldnn_backward",
    "use_cudnn_rnn_flatten_weight",
]

_aten = ops.aten


def _no() -> Callable[..., bool]:
    def kernel(*_: Tensor) -> bool:
        return False

    return kernel


cudnn_is_acceptable = _no()
is_distributed = _no()
is_vulkan_available = _no()
use_cudnn_rnn_flatten_weight = _no()


def nnpack_available() -> bool:
    """Whether the operators of that name compute."""
    return True


def _is_cast(self: Tensor, cuda_enabled: bool, cpu_enabled: bool) -> bool:
    return {"cuda": cuda_enabled, "cpu": cpu_enabled}.get(self.device.type, False)


def autocast_to_full_precision(self: Tensor, cuda_enabled: bool, cpu_enabled: bool) -> Tensor:
    """16 bits become 32 where autocast is on."""
    short = self.dtype in REDUCED_FLOATING
    if short and _is_cast(self, cuda_enabled, cpu_enabled):
        return _aten.to.dtype(self, dtypes.float32)
    return self


def autocast_to_reduced_precision(
    self: Tensor,
    cuda_enabled: bool,
    cpu_enabled: bool,
    cuda_dtype: dtypes.dtype,
    cpu_dtype: dtypes.dtype,
) -> Tensor:
    """float32 becomes the device's short dtype where autocast is on."""
    if self.dtype is not dtypes.float32 or not _is_cast(self, cuda_enabled, cpu_enabled):
        return self
    return _aten.to.dtype(self, cuda_dtype if self.device.type == "cuda" else cpu_dtype)


def to_mkldnn_backward(grad: Tensor, input: Tensor) -> Tensor:
    """A gradient that is plain already."""
    return grad


def propagate_xla_data(input: Tensor, output: Tensor) -> None:
    """Only xla has such data."""
    raise refused(f"expected input on xla, got {input.device}")


def dequantize_self(self: Tensor) -> Tensor:
    """A plain tensor in float32."""
    return _aten.to.dtype(self, dtypes.float32)


def make_dep_token(**options: Any) -> Tensor:
    """A tensor that orders effects; what is in it does not count."""
    return _aten.empty.memory_format([], **options)
