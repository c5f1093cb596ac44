"""Running extremes and sums of exponentials, written with operators."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = ["cummax", "cummax_out", "cummin", "cummin_out", "logcumsumexp", "logcumsumexp_out"]

_aten = ops.aten
Pair = tuple[Tensor, Tensor]


def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """log(cumsum(exp(x))) along `dim`."""
    return _aten._logcumsumexp(self, dim)


def logcumsumexp_out(self: Tensor, dim: int, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    if out.dtype is not self.dtype:
        raise refused(f"expected out to have dtype {self.dtype}, got {out.dtype}")
    return _aten._logcumsumexp.out(self, dim, out=out)


def _running(helper: Any, self: Tensor, dim: int, values: Tensor, indices: Tensor) -> Pair:
    if values.dtype is not self.dtype or indices.dtype is not dtypes.int64:
        raise refused(
            f"expected outputs of {self.dtype} and int64, got {values.dtype} and {indices.dtype}"
        )
    check_placed(self, values, indices)
    dim = rules.wrap_dim(dim, self.ndim)
    for t in (values, indices):
        resize_out(t, self.shape)
    return _fill(helper, self, dim, values, indices)


def _fill(helper: Any, self: Tensor, dim: int, values: Tensor, indices: Tensor) -> Pair:
    if self.ndim == 0:
        _aten.fill_.Tensor(values, self)
        _aten.fill_.Scalar(indices, 0)
    elif not values.is_meta and rules.are_numbers(self.shape) and self.numel():
        # Neither meta tensors nor symbolic sizes have bytes; the helper has kernels for bytes only.
        helper(self, values, indices, dim)
    return values, indices


def _new(helper: Any, self: Tensor, dim: int) -> Pair:
    dim = rules.wrap_dim(dim, self.ndim)
    sizes = list(self.shape)
    values = _aten.empty(sizes, dtype=self.dtype, layout=self.layout, device=self.device)
    indices = _aten.empty(sizes, dtype=dtypes.int64, layout=self.layout, device=self.device)
    return _fill(helper, self, dim, values, indices)


def cummax(self: Tensor, dim: int) -> Pair:
    """The largest element so far along `dim`, and its place."""
    return _new(_aten._cummax_helper, self, dim)


def cummax_out(self: Tensor, dim: int, *, values: Tensor, indices: Tensor) -> Pair:
    """The same into `values` and `indices`."""
    return _running(_aten._cummax_helper, self, dim, values, indices)


def cummin(self: Tensor, dim: int) -> Pair:
    """The smallest element so far along `dim`, and its place."""
    return _new(_aten._cummin_helper, self, dim)


def cummin_out(self: Tensor, dim: int, *, values: Tensor, indices: Tensor) -> Pair:
    """The same into `values` and `indices`."""
    return _running(_aten._cummin_helper, self, dim, values, indices)
