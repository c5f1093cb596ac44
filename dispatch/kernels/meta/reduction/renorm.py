"""Shape function of renorm: self's sizes."""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor

__all__ = ["renorm"]


def renorm(self: Tensor, p: Any, dim: int, maxnorm: Any) -> TensorSpec:
    """PyTorch looks at the orders before the sizes."""
    if isinstance(p, complex):
        raise refused(f"expected p to be a real number, got {p}")
    if not p > 0:
        raise refused(f"expected p to be positive, got {p}")
    if isinstance(maxnorm, complex):
        raise refused(f"expected maxnorm to be a real number, got {maxnorm}")
    if not maxnorm >= 0:
        raise refused(f"expected maxnorm not to be negative, got {maxnorm}")
    if self.ndim < 2:
        raise refused(f"expected self to have at least 2 dimensions, got shape {list(self.shape)}")
    return TensorSpec(self.shape, self.dtype)
