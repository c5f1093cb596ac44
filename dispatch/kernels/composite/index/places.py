"""Places of elements: of what is not zero, along a dimension, as one-hot rows."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused, scalar_type
from dispatch._C.placement import check_together
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["argwhere", "one_hot", "take_along_dim", "take_along_dim_out"]

_aten = ops.aten


def argwhere(self: Tensor) -> Tensor:
    """The places of what is not zero, as rows."""
    return _aten.nonzero(self)


def _take_arguments(self: Tensor, indices: Tensor, dim: int | None) -> tuple[Tensor, int, Tensor]:
    if indices.dtype is not dtypes.int64:
        raise refused(f"dtype of indices should be Long but got {scalar_type(indices.dtype)}")
    check_together(self=self, indices=indices)
    if dim is None:
        return _aten.view(self, [-1]), 0, _aten.view(indices, [-1])
    if self.ndim != indices.ndim:
        raise refused(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = rules.wrap_dim(dim, self.ndim)
    mine, theirs = list(self.shape), list(indices.shape)
    if self.ndim:
        mine[dim] = indices.shape[dim]
        theirs[dim] = self.shape[dim]
    indices = _aten.expand(indices, list(rules.broadcast_shapes(mine, list(indices.shape))))
    source = _aten.expand(self, list(rules.broadcast_shapes(theirs, list(self.shape))))
    return source, dim, _aten.remainder.Scalar(indices, self.shape[dim] if self.ndim else 1)


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` with sizes that are broadcast; negative indices count from the end."""
    return _aten.gather(*_take_arguments(self, indices, dim))


def take_along_dim_out(
    self: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    return _aten.gather.out(*_take_arguments(self, indices, dim), out=out)


def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the class that the element names, along a new dimension, 0 elsewhere."""
    if self.dtype is not dtypes.int64:
        raise refused(f"one_hot is only applicable to index tensor of type int64, got {self.dtype}")
    options: Any = {"dtype": dtypes.int64, "layout": self.layout, "device": self.device}
    if num_classes != -1 and not rules.is_eager(self):
        numbers = _aten.arange(num_classes, **options)
        found = _aten.eq.Tensor(_aten.unsqueeze(self, -1), numbers)
        return _aten.to.dtype(found, dtypes.int64)
    if self.numel() == 0:
        if num_classes <= 0:
            raise refused("num_classes must be given for an empty tensor")
        return _aten.empty([*self.shape, num_classes], **options)
    smallest, largest = _aten.aminmax(self)
    least: Any = smallest.item()
    most: Any = largest.item()
    if least < 0:
        raise refused("Class values must be non-negative.")
    classes = int(most) + 1
    if num_classes != -1:
        if num_classes < 1 or classes > num_classes:
            raise refused(
                f"Class values must be smaller than num_classes. Got {most} and {num_classes}"
            )
        classes = num_classes
    result = _aten.zeros([*self.shape, classes], **options)
    return _aten.scatter_.value(result, -1, _aten.unsqueeze(self, -1), 1)
