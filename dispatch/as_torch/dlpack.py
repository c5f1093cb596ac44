"""`torch.utils.dlpack`: memory lent to other libraries, and theirs as tensors."""

from typing import Any

from dispatch import Tensor, from_dlpack
from dispatch._C import dlpack
from dispatch._C.dlpack import DLDeviceType

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule without a version over the tensor's memory, of a tensor that requires grad too.

    Raises: BufferError for what has no memory that can be lent, TypeError for what is no tensor.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_dlpack: expected a Tensor, got {type(tensor).__name__}")
    return dlpack.to_dlpack(tensor.detach() if tensor.requires_grad else tensor)
