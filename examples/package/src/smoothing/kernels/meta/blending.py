"""Shape function of blends."""

from dispatch import Tensor
from dispatch._C.structured import TensorSpec
from dispatch.kernels.meta import rules

__all__ = ["blend"]


def blend(self: Tensor, other: Tensor, weight: float) -> TensorSpec:
    """Broadcast, promoted."""
    sizes = rules.broadcast_shapes(self.shape, other.shape)
    return TensorSpec(sizes, rules.result_type(self, other), cast="safe")
