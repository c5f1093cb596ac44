"""Conversions to sparse layouts: each calls the operator that a backend with such tensors has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "coalesce",
    "sparse_broadcast_to_copy",
    "to_sparse",
    "to_sparse_bsc",
    "to_sparse_bsr",
    "to_sparse_csc",
    "to_sparse_csr",
    "to_sparse_sparse_dim",
]

_aten = ops.aten


def coalesce(self: Tensor) -> Tensor:
    """With one value for each place."""
    if self.layout is not dtypes.sparse_coo:
        raise refused(f"expected self in sparse coordinate layout, got {self.layout}")
    return self if _aten.is_coalesced(self) else _aten._coalesce(self)


def sparse_broadcast_to_copy(self: Tensor, size: Sequence[int]) -> Tensor:
    """Expanded, in memory of its own."""
    return _aten.clone(_aten._sparse_broadcast_to(self, size))


def to_sparse(
    self: Tensor,
    *,
    layout: dtypes.layout | None = None,
    blocksize: Sequence[int] | None = None,
    dense_dim: int | None = None,
) -> Tensor:
    """In `layout`, or in coordinates."""
    if (layout or dtypes.sparse_coo) is self.layout:
        return self
    return _aten._to_sparse(self, layout=layout, blocksize=blocksize, dense_dim=dense_dim)


def to_sparse_sparse_dim(self: Tensor, sparse_dim: int) -> Tensor:
    """In coordinates, for the first dimensions."""
    if self.layout is dtypes.sparse_coo:
        return self
    return _aten._to_sparse.sparse_dim(self, sparse_dim)


def _to(name: str) -> Callable[..., Tensor]:
    layout = getattr(dtypes, f"sparse_{name}")

    def kernel(self: Tensor, *how: Any) -> Tensor:
        if self.layout is layout:
            return self
        converted: Tensor = getattr(_aten, f"_to_sparse_{name}")(self, *how)
        return converted

    kernel.__name__ = kernel.__qualname__ = f"to_sparse_{name}"
    return kernel


to_sparse_bsc = _to("bsc")
to_sparse_bsr = _to("bsr")
to_sparse_csc = _to("csc")
to_sparse_csr = _to("csr")
