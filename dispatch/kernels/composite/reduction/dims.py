"""all and any over several dimensions, on a backend that has them for one dimension only.

Called for the composite operators; call operators through the dispatcher. Source of the semantics:
PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["all_dims", "all_dims_out", "any_dims", "any_dims_out"]

_aten: Any = ops.aten


def _folded(one: Callable[..., Tensor], self: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Dimension by dimension, from the last; an empty list reduces nothing."""
    ndim = self.dim()
    dims = range(ndim) if dim is None else rules.wrap_dims(dim, ndim)
    truth = dtypes.uint8 if self.dtype is dtypes.uint8 else dtypes.bool
    if (dim is not None and not dims) or not ndim:
        return _aten.to.dtype(_aten.ne(self, 0), truth)
    for place in sorted(dims, reverse=True):
        self = one(self, place, keepdim)
    return self


def all_dims(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements along `dim` are true."""
    return _folded(_aten.all.dim, self, dim, keepdim)


def any_dims(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element along `dim` is true."""
    return _folded(_aten.any.dim, self, dim, keepdim)


def _written(out: Tensor, found: Tensor) -> Tensor:
    _aten.resize_(out, found.shape)
    return _aten.copy_(out, found)


def all_dims_out(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor) -> Tensor:
    """`all_dims` into `out`."""
    return _written(out, all_dims(self, dim, keepdim))


def any_dims_out(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor) -> Tensor:
    """`any_dims` into `out`."""
    return _written(out, any_dims(self, dim, keepdim))
