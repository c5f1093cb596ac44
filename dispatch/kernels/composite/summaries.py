"""Reductions, scans and orders that are others in another form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "argsort",
    "argsort_stable",
    "argsort_stable_out",
    "argwhere",
    "count_nonzero",
    "cummax",
    "cummax_out",
    "cummin",
    "cummin_out",
    "kthvalue",
    "logcumsumexp",
    "logcumsumexp_out",
    "logsumexp",
    "logsumexp_out",
    "median_dim",
    "mode_out",
    "msort",
    "msort_out",
    "nanmean",
    "nanmean_out",
    "nanmedian_dim",
    "one_hot",
    "std_mean",
    "std_mean_dim",
    "take_along_dim",
    "take_along_dim_out",
]

_aten = ops.aten
Dims = Sequence[int] | None
Pair = tuple[Tensor, Tensor]


# ---- means -------------------------------------------------------------------------------------


def _count(self: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """How many elements are numbers."""
    return _aten.sum.dim_IntList(_aten.logical_not_(_aten.ne.Tensor(self, self)), dim, keepdim)


def _check_inexact(self: Tensor) -> None:
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise RuntimeError(f"aten::nanmean: expected a floating or complex dtype, got {self.dtype}")


def nanmean(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The mean of the elements that are numbers."""
    _check_inexact(self)
    count = _count(_aten.detach(self), dim, keepdim)
    return _aten.div.Tensor(_aten.nansum(self, dim, keepdim, dtype=dtype), count)


def nanmean_out(
    self: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    out: Tensor,
) -> Tensor:
    """The same into `out`."""
    _check_inexact(self)
    count = _count(self, dim, keepdim)
    return _aten.div_.Tensor(_aten.nansum.out(self, dim, keepdim, dtype=dtype, out=out), count)


def std_mean(self: Tensor, unbiased: bool = True) -> Pair:
    """Standard deviation and mean of all elements."""
    result: Pair = _aten.std_mean.correction(self, None, correction=None if unbiased else 0)
    return result


def std_mean_dim(self: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Pair:
    """Standard deviation and mean over `dim`."""
    result: Pair = _aten.std_mean.correction(
        self, dim, correction=1 if unbiased else 0, keepdim=keepdim
    )
    return result


# ---- logarithms of sums ------------------------------------------------------------------------


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) over `dim`, without overflow."""
    kind = rules.float_type(self.dtype)
    values = self if self.dtype is kind else _aten._to_copy(self, dtype=kind)
    if values.numel() == 0 or kind.is_complex:
        return _aten.log(_aten.sum.dim_IntList(_aten.exp(values), list(dim), keepdim))
    top = _aten.amax(values, list(dim), True)
    top = _aten.masked_fill.Scalar(top, _aten.isinf(top), 0)
    total = _aten.sum.dim_IntList(_aten.exp(_aten.sub.Tensor(values, top)), list(dim), keepdim)
    if not keepdim:
        top = _aten.view(top, list(total.shape))
    return _aten.add_.Tensor(_aten.log_(total), top)


def logsumexp_out(
    self: Tensor, dim: Sequence[int], keepdim: bool = False, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    if not (out.dtype.is_floating_point or out.dtype.is_complex):
        raise RuntimeError(f"aten::logsumexp: expected a floating out, got {out.dtype}")
    result = logsumexp(self, dim, keepdim)
    if tuple(out.shape) != tuple(result.shape):
        _aten.resize_(out, list(result.shape))
    return _aten.copy_(out, result)


def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """log(cumsum(exp(x))) along `dim`."""
    return _aten._logcumsumexp(self, dim)


def logcumsumexp_out(self: Tensor, dim: int, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    if out.dtype is not self.dtype:
        raise RuntimeError(
            f"aten::logcumsumexp: expected out to have dtype {self.dtype}, got {out.dtype}"
        )
    return _aten._logcumsumexp.out(self, dim, out=out)


# ---- running extremes --------------------------------------------------------------------------


def _running(
    name: str, helper: Any, self: Tensor, dim: int, values: Tensor, indices: Tensor
) -> Pair:
    if values.dtype is not self.dtype or indices.dtype is not dtypes.int64:
        raise RuntimeError(
            f"aten::{name}: expected outputs of {self.dtype} and int64, got {values.dtype} and "
            f"{indices.dtype}"
        )
    dim = rules.wrap_dim(dim, self.ndim)
    for t in (values, indices):
        if tuple(t.shape) != tuple(self.shape):
            _aten.resize_(t, list(self.shape))
    if self.ndim == 0:
        _aten.fill_.Tensor(values, self)
        _aten.fill_.Scalar(indices, 0)
    elif self.numel():
        helper(self, values, indices, dim)
    return values, indices


def _new_pair(self: Tensor) -> Pair:
    sizes = list(self.shape)
    values = _aten.empty(sizes, dtype=self.dtype, layout=self.layout, device=self.device)
    indices = _aten.empty(sizes, dtype=dtypes.int64, layout=self.layout, device=self.device)
    return values, indices


def cummax(self: Tensor, dim: int) -> Pair:
    """The largest element so far along `dim`, and its place."""
    return _running("cummax", _aten._cummax_helper, self, dim, *_new_pair(self))


def cummax_out(self: Tensor, dim: int, *, values: Tensor, indices: Tensor) -> Pair:
    """The same into `values` and `indices`."""
    return _running("cummax", _aten._cummax_helper, self, dim, values, indices)


def cummin(self: Tensor, dim: int) -> Pair:
    """The smallest element so far along `dim`, and its place."""
    return _running("cummin", _aten._cummin_helper, self, dim, *_new_pair(self))


def cummin_out(self: Tensor, dim: int, *, values: Tensor, indices: Tensor) -> Pair:
    """The same into `values` and `indices`."""
    return _running("cummin", _aten._cummin_helper, self, dim, values, indices)


# ---- the middle and the k-th -------------------------------------------------------------------


def _empty_pair(self: Tensor) -> dict[str, Tensor]:
    return {
        "values": _aten.empty([0], dtype=self.dtype, device=self.device),
        "indices": _aten.empty([0], dtype=dtypes.int64, device=self.device),
    }


def median_dim(self: Tensor, dim: int, keepdim: bool = False) -> Pair:
    """The lower median along `dim`, and its place."""
    result: Pair = _aten.median.dim_values(self, dim, keepdim, **_empty_pair(self))
    return result


def nanmedian_dim(self: Tensor, dim: int, keepdim: bool = False) -> Pair:
    """The same without NaN."""
    result: Pair = _aten.nanmedian.dim_values(self, dim, keepdim, **_empty_pair(self))
    return result


def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    """The k-th smallest element along `dim`, and its place."""
    result: Pair = _aten.kthvalue.values(self, k, dim, keepdim, **_empty_pair(self))
    return result


def mode_out(
    self: Tensor, dim: int = -1, keepdim: bool = False, *, values: Tensor, indices: Tensor
) -> Pair:
    """The most frequent element along `dim` and its place, into `values` and `indices`."""
    for given, kind in ((values, self.dtype), (indices, dtypes.int64)):
        if given.dtype is not kind:
            raise RuntimeError(f"aten::mode: expected an output of {kind}, got {given.dtype}")
    for given, found in zip((values, indices), _aten.mode(self, dim, keepdim), strict=True):
        _aten.resize_(given, list(found.shape))
        _aten.copy_(given, found)
    return values, indices


def count_nonzero(self: Tensor, dim: int | None = None) -> Tensor:
    """How many elements along `dim` are not 0."""
    return _aten.count_nonzero.dim_IntList(self, [] if dim is None else [dim])


# ---- orders and places -------------------------------------------------------------------------


def argsort(self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """Where the elements of a sort come from."""
    indices: Tensor = _aten.sort.default(self, dim, descending)[1]
    return indices


def argsort_stable(
    self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False
) -> Tensor:
    """The same; `stable`: equal elements stay in their order."""
    indices: Tensor = _aten.sort.stable(self, stable=stable, dim=dim, descending=descending)[1]
    return indices


def argsort_stable_out(
    self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False, out: Tensor
) -> Tensor:
    """The same into `out`."""
    values = _aten.empty([0], dtype=self.dtype, layout=self.layout, device=self.device)
    _aten.sort.values_stable(
        self, stable=stable, dim=dim, descending=descending, values=values, indices=out
    )
    return out


def msort(self: Tensor) -> Tensor:
    """Sorted along the first dimension."""
    values: Tensor = _aten.sort.default(self, 0, False)[0]
    return values


def msort_out(self: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    indices = _aten.empty([0], dtype=dtypes.int64, layout=self.layout, device=self.device)
    _aten.sort.values(self, 0, False, values=out, indices=indices)
    return out


def argwhere(self: Tensor) -> Tensor:
    """The places of what is not zero, as rows."""
    return _aten.nonzero(self)


def _take_arguments(self: Tensor, indices: Tensor, dim: int | None) -> tuple[Tensor, int, Tensor]:
    if indices.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"aten::take_along_dim: expected int64 indices, got {indices.dtype}")
    if dim is None:
        return _aten.reshape(self, [-1]), 0, _aten.reshape(indices, [-1])
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "aten::take_along_dim: expected as many dimensions in indices as in self, got "
            f"{list(indices.shape)} and {list(self.shape)}"
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
        raise RuntimeError(f"aten::one_hot: expected an int64 tensor, got {self.dtype}")
    options: Any = {"dtype": dtypes.int64, "layout": self.layout, "device": self.device}
    if num_classes != -1 and not rules.is_eager(self):
        numbers = _aten.arange(num_classes, **options)
        found = _aten.eq.Tensor(_aten.unsqueeze(self, -1), numbers)
        return _aten.to.dtype(found, dtypes.int64)
    if self.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("aten::one_hot: num_classes must be given for an empty tensor")
        return _aten.empty([*self.shape, num_classes], **options)
    smallest, largest = _aten.aminmax(self)
    if smallest.item().real < 0:
        raise RuntimeError("aten::one_hot: classes must not be negative")
    classes = int(largest.item().real) + 1
    if num_classes != -1:
        if num_classes < 1 or classes > num_classes:
            raise RuntimeError(
                f"aten::one_hot: expected num_classes of {classes} or more, got {num_classes}"
            )
        classes = num_classes
    result = _aten.zeros([*self.shape, classes], **options)
    return _aten.scatter_.value(result, -1, _aten.unsqueeze(self, -1), 1)
