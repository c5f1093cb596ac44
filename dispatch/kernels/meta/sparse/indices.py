"""Shapes of conversions between the index formats of sparse matrices; the indices are dense."""

from __future__ import annotations

from dispatch._C.dtypes import int32, int64
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor

__all__ = ["coo_to_csr", "csr_to_coo"]


def coo_to_csr(self: Tensor, size: int, out_int32: bool) -> TensorSpec:
    """For each of `size` rows where it starts, and the end of the last."""
    if self.ndim > 1:
        raise refused(f"expected self to be a vector, got shape {list(self.shape)}")
    return TensorSpec((size + 1,), int32 if out_int32 else int64)


def csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, out_int32: bool, transpose: bool
) -> TensorSpec:
    """A column of coordinates for each value, of all matrices of a batch."""
    if crow_indices.ndim != col_indices.ndim or crow_indices.shape[:-1] != col_indices.shape[:-1]:
        raise refused(
            "expected crow_indices and col_indices of the same batch, got shapes "
            f"{list(crow_indices.shape)} and {list(col_indices.shape)}"
        )
    sizes = (col_indices.ndim + 1, col_indices.numel())
    return TensorSpec(sizes, int32 if out_int32 else int64)
