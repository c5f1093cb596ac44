"""sort without a choice of stability, in terms of the stable overloads."""

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["sort", "sort_out"]


def sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Values and indices along `dim`."""
    result: tuple[Tensor, Tensor] = ops.aten.sort.stable(
        self, stable=False, dim=dim, descending=descending
    )
    return result


def sort_out(
    self: Tensor, dim: int = -1, descending: bool = False, *, values: Tensor, indices: Tensor
) -> tuple[Tensor, Tensor]:
    """The same into `values` and `indices`."""
    result: tuple[Tensor, Tensor] = ops.aten.sort.values_stable(
        self, stable=False, dim=dim, descending=descending, values=values, indices=indices
    )
    return result
