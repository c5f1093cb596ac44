"""A shape function that hands its body what it worked out."""

from dispatch._C.errors import refused
from dispatch._C.structured import Shaped, TensorSpec


def frames(self, size):
    if size < 1:
        raise refused(f"expected size to be positive, got {size}", ValueError)
    count = self.shape[0] // size
    return Shaped(TensorSpec((count, size), self.dtype), count, "more")


def bounds(self):
    return Shaped((TensorSpec((), self.dtype), TensorSpec((), self.dtype)), "both")
