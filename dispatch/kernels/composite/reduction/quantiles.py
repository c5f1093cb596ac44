"""Quantiles, written with operators: a sort, two reads by rank, and a step between them.

Called for the composite operators. A rank may lie between two elements; `interpolation` says what
to take then. NaN in a slice makes its quantiles NaN, and `nanquantile` leaves NaN out.
"""

from __future__ import annotations

from typing import Any

from dispatch._C import _dispatch_isTensorSubclassLike
from dispatch._C.dtypes import float32, float64, int64
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = ["nanquantile", "quantile"]

_aten = ops.aten
_MODES = ("linear", "lower", "higher", "midpoint", "nearest")
_LARGEST = 1 << 24  # ranks beyond are no whole numbers of float32


def _unlike(name: str, what: str, wanted: object, got: object) -> str:
    where = "on the same device" if what == "device" else "same dtype"
    return f"quantile() {name} tensor must be {where} as the input tensor, {wanted}, got {got}"


def _check(self: Tensor, q: Tensor, interpolation: str) -> None:
    if interpolation not in _MODES:
        raise refused(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if self.numel() == 0:
        raise refused(f"quantile() input tensor must be non-empty, got shape {list(self.shape)}")
    if q.ndim > 1:
        raise refused(f"quantile() q must be a scalar or 1D tensor, got shape {list(q.shape)}")
    if self.dtype not in (float32, float64):
        raise refused(
            f"quantile() input tensor must be either float or double dtype, got {self.dtype}"
        )
    if q.dtype is not self.dtype:
        raise refused(_unlike("q", "dtype", self.dtype, q.dtype))
    if q.device != self.device:
        raise refused(_unlike("q", "device", self.device, q.device))


def _sizes(self: Tensor, q: Tensor, dim: int | None, keepdim: bool) -> list[int]:
    """The result's: one for each quantile in front, then what is left of self's."""
    sizes: list[int] = [1] * self.ndim if keepdim else []
    if dim is not None and self.ndim:
        sizes, at = list(self.shape), rules.wrap_dim(dim, self.ndim)
        sizes[at : at + 1] = [1] if keepdim else []
    return [q.numel(), *sizes] if q.ndim else sizes


def _sorted_rows(self: Tensor, dim: int | None) -> Tensor:
    if dim is None:
        return _aten.sort.default(_aten.flatten.using_ints(self))[0]
    at = rules.wrap_dim(dim, self.ndim)
    if at == self.ndim - 1:
        return _aten.sort.default(self)[0]
    return _aten.sort.default(_aten.transpose.int(_aten.unsqueeze(self, -1), at, -1))[0]


def _ranks(rows: Tensor, q: Tensor, ignore_nan: bool) -> Tensor:
    last = rows.shape[-1] - 1
    if ignore_nan:
        numbers = _aten.logical_not_(_aten.isnan(rows))
        count = _aten.sub.Scalar(_aten.sum.dim_IntList(numbers, [-1], True), 1)
        ranks = _aten.mul.Tensor(q, count)
        return _aten.masked_fill_.Scalar(ranks, _aten.lt.Scalar(ranks, 0), 0)
    ranks, missing = _aten.broadcast_tensors(
        [_aten.mul.Scalar(q, last), _aten.any.dim(_aten.isnan(rows), -1, True)]
    )
    return _aten.masked_fill.Scalar(ranks, missing, last)


def _compute(
    self: Tensor,
    q: Tensor,
    dim: int | None,
    interpolation: str,
    ignore_nan: bool,
    sizes: list[int],
) -> Tensor:
    if rules.is_eager(q) and not _dispatch_isTensorSubclassLike(q):
        in_range = _aten.logical_and_(_aten.ge.Scalar(q, 0), _aten.le.Scalar(q, 1))
        every = _aten.all(in_range)
        if not _aten.equal(every, _aten.new_ones(every, [])):
            raise refused("quantile() q values must be in the range [0, 1]")
    rows = _sorted_rows(self, dim)
    rest = sizes[1:] if q.ndim else sizes
    rows = _aten.view(rows, [*rest, rows.shape[-1]])
    if rows.shape[-1] > _LARGEST:
        raise refused(
            f"quantile() input tensor is too large: at most {_LARGEST}, got {rows.shape[-1]}"
        )
    ranks = _ranks(rows, q, ignore_nan)
    rounding = {"lower": _aten.floor_, "higher": _aten.ceil_, "nearest": _aten.round_}
    if interpolation in rounding:
        ranks = rounding[interpolation](ranks)
    whole: dict[str, Any] = {"dtype": int64, "layout": ranks.layout, "device": ranks.device}
    below = _aten.to.dtype_layout(ranks, **whole)
    values = _aten.gather(rows, -1, below)
    if interpolation not in rounding:
        midway = interpolation == "midpoint"
        weights = _aten.full_like(ranks, 0.5) if midway else _aten.sub.Tensor(ranks, below)
        above = _aten.to.dtype_layout(_aten.ceil_(ranks), **whole)
        values = _aten.lerp_.Tensor(values, _aten.gather(rows, -1, above), weights)
    if q.ndim:
        values = _aten.transpose_(_aten.unsqueeze_(values, 0), 0, -1)
    return _aten.squeeze_.dim(values, -1)


def _number(self: Tensor, q: float) -> Tensor:
    if not 0 <= q <= 1:
        raise refused(f"quantile() q must be in the range [0, 1] but got {q:g}")
    kind: dict[str, Any] = {"dtype": self.dtype, "layout": self.layout, "device": self.device}
    return _aten.scalar_tensor(q, **kind)


def _quantile(
    self: Tensor,
    q: Tensor | float,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
    ignore_nan: bool,
    out: Tensor | None,
) -> Tensor:
    quantiles = q if isinstance(q, Tensor) else _number(self, q)
    _check(self, quantiles, interpolation)
    sizes = _sizes(self, quantiles, dim, keepdim)
    if out is not None:
        _fit(out, self, sizes)
    made = _compute(self, quantiles, dim, interpolation, ignore_nan, sizes)
    return made if out is None else _aten.copy_(out, made)


def _fit(out: Tensor, self: Tensor, sizes: list[Any]) -> None:
    if out.dtype is not self.dtype:
        raise refused(_unlike("out", "dtype", self.dtype, out.dtype))
    if out.device != self.device:
        raise refused(_unlike("out", "device", self.device, out.device))
    resize_out(out, sizes)


def quantile(
    self: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The quantiles `q`, or the one, of all elements or along `dim`; all variants."""
    return _quantile(self, q, dim, keepdim, interpolation, False, out)


def nanquantile(
    self: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The same of the elements that are numbers."""
    return _quantile(self, q, dim, keepdim, interpolation, True, out)
