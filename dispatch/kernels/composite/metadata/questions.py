"""Questions about tensors and dtypes: answered from metadata, on every device."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "can_cast",
    "data",
    "get_device",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_leaf",
    "is_neg",
    "is_same_size",
    "is_signed",
    "output_nr",
    "positive",
    "promote_types",
    "result_type",
    "version",
]


def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is a floating one."""
    return bool(self.dtype.is_floating_point)


def is_complex(self: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return bool(self.dtype.is_complex)


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return bool(self.dtype.is_signed)


def is_conj(self: Tensor) -> bool:
    """Whether the conjugate bit is set."""
    return bool(Tensor.is_conj(self))


def is_neg(self: Tensor) -> bool:
    """Whether the negative bit is set."""
    return bool(Tensor.is_neg(self))


def is_inference(self: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return bool(Tensor.is_inference(self))


def is_leaf(self: Tensor) -> bool:
    """Whether no differentiable operator made the tensor."""
    return bool(self.is_leaf)


def output_nr(self: Tensor) -> int:
    """Which output of its operator the tensor is."""
    return int(self.output_nr)


def version(self: Tensor) -> int:
    """How often the memory was written."""
    return int(self._version)


def data(self: Tensor) -> Tensor:
    """The tensor apart from what autograd knows of it."""
    return ops.aten.detach(self)


def get_device(self: Tensor) -> int:
    """The device's index; -1 for the CPU."""
    index = self.device.index
    return -1 if index is None else int(index)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return tuple(self.shape) == tuple(other.shape)


def positive(self: Tensor) -> Tensor:
    """self itself. RuntimeError for a bool tensor."""
    if self.dtype is dtypes.bool:
        raise refused("self must not be a bool tensor")
    return self


def promote_types(type1: Any, type2: Any) -> Any:
    """The dtype that two dtypes have in common."""
    return dtypes.promote_types(type1, type2)


def can_cast(from_: Any, to: Any) -> bool:
    """Whether results of one dtype may be written to another."""
    return bool(dtypes.can_cast(from_, to))


def result_type(first: Any, second: Any) -> Any:
    """The dtype that two operands, tensors or numbers, have in common."""
    return rules.result_type(first, second)
