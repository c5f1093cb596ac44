"""Questions about sparse tensors, as tensors answer that are not: all dimensions are dense.

Parts that only a sparse tensor has are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor

__all__ = [
    "ccol_indices",
    "col_indices",
    "crow_indices",
    "dense_dim",
    "indices",
    "is_coalesced",
    "row_indices",
    "sparse_dim",
    "values",
]


def dense_dim(self: Tensor) -> int:
    """How many dimensions are dense."""
    return self.ndim


def sparse_dim(self: Tensor) -> int:
    """How many dimensions are sparse."""
    return 0


def _part(layout: str) -> Callable[[Tensor], Tensor]:
    def kernel(self: Tensor) -> Tensor:
        raise refused(f"expected self in {layout} layout, got {self.layout}")

    return kernel


indices = _part("sparse coordinate")
is_coalesced = _part("sparse coordinate")
values = _part("sparse")
crow_indices = _part("sparse row compressed")
col_indices = _part("sparse row compressed")
ccol_indices = _part("sparse column compressed")
row_indices = _part("sparse column compressed")
