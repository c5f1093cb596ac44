"""Shape functions of running products, extremes and sums of exponentials."""

from __future__ import annotations

from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["extremes_helper", "logcumsumexp"]


def logcumsumexp(self: Tensor, dim: int) -> TensorSpec:
    """self's sizes."""
    rules.wrap_dim(dim, self.ndim)
    return TensorSpec(self.shape, self.dtype)


def extremes_helper(self: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
    """Outputs are left as they are."""
