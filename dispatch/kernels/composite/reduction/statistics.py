"""Means without NaN, deviations, order statistics and counts, written with operators."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import check_placed, check_written
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "aminmax",
    "aminmax_dim",
    "count_nonzero",
    "is_all_true",
    "is_any_true",
    "kthvalue",
    "logsumexp",
    "logsumexp_out",
    "median_dim",
    "mode_out",
    "nanmean",
    "nanmean_out",
    "nanmedian_dim",
    "std_mean",
    "std_mean_dim",
]

_aten = ops.aten
Dims = Sequence[int] | None
Pair = tuple[Tensor, Tensor]


def _count(self: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """How many elements are numbers."""
    return _aten.sum.dim_IntList(_aten.logical_not_(_aten.ne.Tensor(self, self)), dim, keepdim)


def _check_inexact(self: Tensor, dtype: dtypes.dtype | None) -> None:
    for kind in (self.dtype, dtype or self.dtype):
        if not (kind.is_floating_point or kind.is_complex):
            raise refused(
                f"nanmean(): expected input to have floating point or complex dtype but got {kind}"
            )


def nanmean(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The mean of the elements that are numbers."""
    _check_inexact(self, dtype)
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
    _check_inexact(self, dtype)
    count = _count(self, dim, keepdim)
    return _aten.div_.Tensor(_aten.nansum.out(self, dim, keepdim, dtype=dtype, out=out), count)


def std_mean(self: Tensor, unbiased: bool = True) -> Pair:
    """Standard deviation and mean of all elements."""
    result: Pair = _aten.std_mean.correction(self, None, correction=1 if unbiased else 0)
    return result


def std_mean_dim(self: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Pair:
    """Standard deviation and mean over `dim`."""
    result: Pair = _aten.std_mean.correction(
        self, dim, correction=1 if unbiased else 0, keepdim=keepdim
    )
    return result


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) over `dim`, without overflow."""
    kind = rules.float_type(self.dtype)
    values = self if self.dtype is kind else _aten._to_copy(self, dtype=kind)
    if values.numel() == 0:
        return _aten.log(_aten.sum.dim_IntList(_aten.exp(values), list(dim), keepdim))
    top = _aten.amax(_aten.real(values) if kind.is_complex else values, list(dim), True)
    top = _aten.masked_fill.Scalar(top, _aten.isinf(top), 0)
    total = _aten.sum.dim_IntList(_aten.exp_(_aten.sub.Tensor(values, top)), list(dim), keepdim)
    if not keepdim:
        top = _aten.view(top, list(total.shape))
    return _aten.add_.Tensor(_aten.log_(total), top)


def logsumexp_out(
    self: Tensor, dim: Sequence[int], keepdim: bool = False, *, out: Tensor
) -> Tensor:
    """The same into `out`."""
    if not (out.dtype.is_floating_point or out.dtype.is_complex):
        raise refused(f"expected a floating out, got {out.dtype}")
    check_placed(self, out)
    result = logsumexp(self, dim, keepdim)
    return _aten.copy_(resize_out(out, result.shape), result)


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
    for name, given, kind in (
        ("values", values, self.dtype),
        ("indices", indices, dtypes.int64),
    ):
        if given.dtype is not kind:
            raise refused(f"expected scalar type {kind} but got {given.dtype} for {name}")
    check_placed(self, values, indices)
    if values is not self:
        check_written(values, self)
    check_written(indices, self)
    for given, found in zip((values, indices), _aten.mode(self, dim, keepdim), strict=True):
        _aten.copy_(resize_out(given, found.shape), found)
    return values, indices


def count_nonzero(self: Tensor, dim: int | None = None) -> Tensor:
    """How many elements along `dim` are not 0."""
    return _aten.count_nonzero.dim_IntList(self, [] if dim is None else [dim])


def is_all_true(self: Tensor) -> Tensor:
    """Whether all elements of a mask are true."""
    _check_mask(self)
    return _aten.all(self)


def is_any_true(self: Tensor) -> Tensor:
    """Whether some element of a mask is true."""
    _check_mask(self)
    return _aten.any(self)


def _check_mask(self: Tensor) -> None:
    if self.dtype is not dtypes.bool:
        raise refused(f"expected self to be bool, got {self.dtype}")


def aminmax(self: Tensor) -> Pair:
    """The smallest and the largest element."""
    result: Pair = _aten.aminmax(self)
    return result


def aminmax_dim(self: Tensor, dim: int, keepdim: bool = False) -> Pair:
    """The smallest and the largest element along `dim`."""
    result: Pair = _aten.aminmax(self, dim=dim, keepdim=keepdim)
    return result
