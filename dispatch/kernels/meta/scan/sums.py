"""Shape functions of scans: self's sizes, contiguous, in the dtype of a sum.

Called by the structured kernels.
"""

from __future__ import annotations

from dispatch._C.dtypes import dtype
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = ["cumsum"]



def cumsum(self: Tensor, dim: int, dtype: dtype | None) -> TensorSpec:
    """A given output decides the dtype unless the caller named one."""
    rules.wrap_dim(dim, self.ndim)
    code = rules.sum_type(self.dtype, dtype)
    cast = "any" if dtype is None else None
    return TensorSpec(self.shape, code, cast=cast, overlap=None if rules.is_eager(self) else "any")
