"""The shape function of `windows`, in Python: what it returns describes the output."""

from dispatch import Tensor
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec


def windows(self: Tensor, size: int, hop: int) -> TensorSpec:
    """Sizes (..., number of windows, size)."""
    if hop < 1 or size < 1:
        raise refused(f"expected 'size' and 'hop' of at least 1, got {size}, {hop}")
    if self.ndim == 0 or self.shape[-1] < size:
        raise refused(f"no window of {size} in a 'self' of shape {list(self.shape)}")
    count = (self.shape[-1] - size) // hop + 1
    return TensorSpec((*self.shape[:-1], count, size), self.dtype)
