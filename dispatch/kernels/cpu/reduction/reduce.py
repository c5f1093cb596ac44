"""Bodies of reductions on the CPU that are written in Python on numpy (sums are in `reduce.pyx`).

Called by the structured kernels with outputs of the right size; a kept dimension is a matter of the
output's shape alone. Every body reduces over a tuple of axes and writes once. Half precision is
computed in float32 and moments in float64, except products, which PyTorch rounds at each step.
Where PyTorch puts a reduction's identity into the output before it reads, an output that is self
holds just that (`_is_cleared`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import ALL_COMPLEX, FLOAT8, RARE
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import (
    Array,
    bits,
    check_supported,
    compute,
    is_narrow,
    quiet,
    store,
    view,
)
from dispatch.kernels.meta import rules

__all__ = [
    "all_all",
    "all_dim",
    "all_dims",
    "amax",
    "amin",
    "any_all",
    "any_dim",
    "any_dims",
    "argmax",
    "argmin",
    "histc",
    "linalg_vector_norm",
    "max",
    "max_dim",
    "min",
    "min_dim",
    "prod",
    "prod_dim",
    "std",
    "var",
    "var_mean",
]

Axes = tuple[int, ...]
Dims = Sequence[int] | None
Number = bool | int | float | complex

UNORDERED = RARE | ALL_COMPLEX


def _all_axes(self: Tensor) -> Axes:
    return tuple(range(self.ndim))


def _axes(self: Tensor, dim: Dims) -> Axes:
    """No dimensions mean all of them."""
    if not dim or not self.ndim:
        return _all_axes(self)
    return rules.wrap_dims(dim, self.ndim)


def _axis(self: Tensor, dim: int) -> Axes:
    return (rules.wrap_dim(dim, self.ndim),) if self.ndim else ()


def _count(self: Tensor, axes: Axes) -> int:
    """How many elements are reduced to one."""
    return math.prod(self.shape[axis] for axis in axes)


def _fill(out: Tensor, values: Any) -> None:
    """`values` in the output's shape, which may have kept dimensions."""
    if out.dtype is dtypes.complex32:
        _fill_complex32(out, values)
    else:
        store(out, np.reshape(values, tuple(out.shape)))


def _is_cleared(out: Tensor, self: Tensor, identity: bool | int | float) -> bool:
    """Whether the output is self, which then reads as the identity."""
    if out is self:
        store(out, identity)
    return out is self


def _check_out(out: Tensor, *expected: dtype) -> None:
    """Where the shape function lets more dtypes pass, as PyTorch's does, than the kernel."""
    if out.dtype not in expected:
        wanted = " or ".join(map(str, expected))
        raise refused(f"expected out to have dtype {wanted}, got {out.dtype}")


# ---- complex32, which numpy has not ------------------------------------------------------------


def _values(self: Tensor) -> Array:
    """As `compute`, with complex32 as complex64."""
    if self.dtype is not dtypes.complex32:
        return compute(self)
    pairs = np.array(bits(self), order="C")[..., None].view(np.float16)
    return pairs.astype(np.float32).view(np.complex64)[..., 0]


def _fill_complex32(out: Tensor, values: Any) -> None:
    pairs = np.array(values, dtype=np.complex64, order="C")[..., None].view(np.float32)
    packed = pairs.astype(np.float16).view(np.uint32)[..., 0]
    bits(out)[...] = packed.reshape(tuple(out.shape))


# ---- products ----------------------------------------------------------------------------------


def _in_dtype(self: Tensor, kind: dtype) -> Array:
    """self's values in the output's dtype; numpy widens integers as it goes."""
    narrow = kind.is_floating_point or kind.is_complex or kind is dtypes.bool
    if self.dtype is kind or not (narrow or self.dtype.is_floating_point or self.dtype.is_complex):
        return view(self)
    return view(ops.aten._to_copy(self, dtype=kind))


def _rounded_product(values: Array, axes: Axes) -> Array:
    """Step by step: numpy's reduction of float16 would round at its end only."""
    rows = np.moveaxis(values, axes, range(-len(axes), 0))
    rows = rows.reshape(*rows.shape[: -len(axes)], -1)
    product: Array = np.multiply.accumulate(rows, -1)[..., -1]
    return product


@quiet()
def _prod(out: Tensor, self: Tensor, axes: Axes) -> None:
    if not self.numel():
        ops.aten.fill_(out, 1)
        return
    check_supported(out, RARE | {dtypes.complex32})
    values = _in_dtype(self, out.dtype)
    if is_narrow(out.dtype) and axes:
        _fill(out, _rounded_product(values, axes))
    else:
        _fill(out, np.multiply.reduce(values, axes, dtype=view(out).dtype))


def prod(out: Tensor, self: Tensor, dtype: dtype | None) -> None:
    """The product of all elements."""
    _check_out(out, rules.sum_type(self.dtype, dtype))
    _prod(out, self, _all_axes(self))


def prod_dim(out: Tensor, self: Tensor, dim: int, keepdim: bool, dtype: dtype | None) -> None:
    """Products along `dim`."""
    if not _is_cleared(out, self, 1):
        _prod(out, self, _axis(self, dim))


# ---- any, all ----------------------------------------------------------------------------------


def _truth(reduce: np.ufunc, out: Tensor, self: Tensor, axes: Axes) -> None:
    """NaN is true; the output is 0 or 1. For one of uint8 self is converted to that first."""
    _check_out(out, dtypes.bool, dtypes.uint8)
    if self.ndim and _is_cleared(out, self, reduce.identity):
        return
    if out.dtype is dtypes.uint8 and self.dtype is not dtypes.uint8:
        self = ops.aten._to_copy(self, dtype=dtypes.uint8)
    _fill(out, reduce.reduce(_values(self), axis=axes, dtype=bool))


def _some_axes(self: Tensor, dim: Dims) -> Axes:
    """An empty list reduces nothing here."""
    return () if dim is not None and not len(dim) else _axes(self, dim)


def any_all(out: Tensor, self: Tensor) -> None:
    """Whether some element is not 0."""
    _truth(np.logical_or, out, self, _all_axes(self))


def any_dim(out: Tensor, self: Tensor, dim: int, keepdim: bool) -> None:
    """Whether some element along `dim` is not 0."""
    _truth(np.logical_or, out, self, _axis(self, dim))


def any_dims(out: Tensor, self: Tensor, dim: Dims, keepdim: bool) -> None:
    """Whether some element over `dim` is not 0."""
    _truth(np.logical_or, out, self, _some_axes(self, dim))


def all_all(out: Tensor, self: Tensor) -> None:
    """Whether no element is 0."""
    _truth(np.logical_and, out, self, _all_axes(self))


def all_dim(out: Tensor, self: Tensor, dim: int, keepdim: bool) -> None:
    """Whether no element along `dim` is 0."""
    _truth(np.logical_and, out, self, _axis(self, dim))


def all_dims(out: Tensor, self: Tensor, dim: Dims, keepdim: bool) -> None:
    """Whether no element over `dim` is 0."""
    _truth(np.logical_and, out, self, _some_axes(self, dim))


# ---- extrema: NaN is the largest and the smallest, the first of equals counts ------------------


@quiet()
def _extremum(pick: np.ufunc, out: Tensor, self: Tensor, axes: Axes) -> None:
    if out.numel():
        check_supported(self, UNORDERED)
        _fill(out, pick.reduce(compute(self), axis=axes))


def _limit(kind: dtype, largest: bool) -> bool | int | float:
    """The largest or the smallest value of an ordered dtype."""
    if kind is dtypes.bool:
        return largest
    if kind.is_floating_point:
        return math.inf if largest else -math.inf
    limits = dtypes.iinfo(kind)
    return int(limits.max if largest else limits.min)


def amax(out: Tensor, self: Tensor, dim: Dims, keepdim: bool) -> None:
    """The largest elements over `dim`."""
    _check_out(out, self.dtype)
    if out is self:
        store(out, _limit(out.dtype, largest=False))
    else:
        _extremum(np.maximum, out, self, _axes(self, dim))


def amin(out: Tensor, self: Tensor, dim: Dims, keepdim: bool) -> None:
    """The smallest elements over `dim`."""
    _check_out(out, self.dtype)
    if out is self:
        store(out, _limit(out.dtype, largest=True))
    else:
        _extremum(np.minimum, out, self, _axes(self, dim))


def max(out: Tensor, self: Tensor) -> None:
    """The largest element."""
    _extremum(np.maximum, out, self, _all_axes(self))


def min(out: Tensor, self: Tensor) -> None:
    """The smallest element."""
    _extremum(np.minimum, out, self, _all_axes(self))


def _find(find: Callable[..., Any], out: Tensor, self: Tensor, dim: int | None) -> None:
    if not out.numel():
        return
    if dim is not None and self.ndim and self.shape[dim] == 1:
        store(out, 0)
        return
    check_supported(self, RARE)
    _fill(out, find(compute(self), axis=dim if self.ndim else None))


def argmax(out: Tensor, self: Tensor, dim: int | None, keepdim: bool) -> None:
    """Where the largest elements are: along `dim`, or in self laid flat."""
    _find(np.argmax, out, self, dim)


def argmin(out: Tensor, self: Tensor, dim: int | None, keepdim: bool) -> None:
    """Where the smallest elements are: along `dim`, or in self laid flat."""
    _find(np.argmin, out, self, dim)


def _extremum_dim(
    find: Callable[..., Any], values: Tensor, indices: Tensor, self: Tensor, dim: int
) -> None:
    if not values.numel():
        return
    if not self.ndim:
        bits(values)[...] = bits(self)
        store(indices, 0)
        return
    check_supported(self, RARE)
    axis = rules.wrap_dim(dim, self.ndim)
    at = np.expand_dims(find(compute(self), axis=axis), axis)
    found = np.take_along_axis(view(self), at, axis)
    _fill(values, found)
    _fill(indices, at)


def max_dim(values: Tensor, indices: Tensor, self: Tensor, dim: int, keepdim: bool) -> None:
    """The largest elements along `dim`, and where they are."""
    _extremum_dim(np.argmax, values, indices, self, dim)


def min_dim(values: Tensor, indices: Tensor, self: Tensor, dim: int, keepdim: bool) -> None:
    """The smallest elements along `dim`, and where they are."""
    _extremum_dim(np.argmin, values, indices, self, dim)


# ---- moments -----------------------------------------------------------------------------------


def _moments(self: Tensor, dim: Dims, correction: Number | None) -> tuple[Any, Any]:
    """Variance and mean in double precision; no degrees of freedom make NaN or infinity."""
    if self.numel():
        check_supported(self, FLOAT8)
    if isinstance(correction, complex):
        raise refused(f"expected correction to be a real number, got {correction}")
    axes = _axes(self, dim)
    count = _count(self, axes)
    freedom = count - (1 if correction is None else correction)
    divisor = freedom if freedom > 0 else 0
    values = _values(self)
    if not self.dtype.is_complex:
        return _spread(values, axes, count, divisor)
    (variance, real), (more, imag) = (
        _spread(part, axes, count, divisor) for part in (values.real, values.imag)
    )
    mean = np.empty(np.shape(real), np.complex128)
    mean.real, mean.imag = real, imag
    return variance + more, mean


def _spread(values: Array, axes: Axes, count: int, divisor: float) -> tuple[Any, Any]:
    """Sum of squared distances from the mean over `divisor`, and the mean."""
    values = values.astype(np.float64)
    mean = np.add.reduce(values, axes, keepdims=True) / count
    values -= mean
    values *= values
    return np.add.reduce(values, axes) / divisor, mean


@quiet()
def var(out: Tensor, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> None:
    """The variance over `dim`, divided by the count less `correction` (1 when not given)."""
    _fill(out, _moments(self, dim, correction)[0])


@quiet()
def std(out: Tensor, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> None:
    """The square root of `var`."""
    _fill(out, np.sqrt(_moments(self, dim, correction)[0]))


@quiet()
def var_mean(
    out: Tensor,
    mean_out: Tensor,
    self: Tensor,
    dim: Dims,
    correction: Number | None,
    keepdim: bool,
) -> None:
    """`var` and the mean."""
    variance, mean = _moments(self, dim, correction)
    _fill(out, variance)
    _fill(mean_out, mean)


# ---- norms -------------------------------------------------------------------------------------


def _total(values: Array, axes: Axes) -> Any:
    """A sum that keeps its precision however many terms it has."""
    return np.add.reduce(values, axes, dtype=np.float64).astype(values.dtype)


def _norm(magnitudes: Array, order: float, axes: Axes) -> Any:
    if math.isinf(order):
        return (np.maximum if order > 0 else np.minimum).reduce(magnitudes, axis=axes)
    if order == 0:
        return np.count_nonzero(magnitudes, axis=axes)
    if order == 1:
        return _total(magnitudes, axes)
    if order == 2:
        return np.sqrt(_total(magnitudes * magnitudes, axes))
    kind = magnitudes.dtype.type
    return _total(magnitudes ** kind(order), axes) ** kind(1 / order)


def _magnitudes(self: Tensor, kind: dtype | None) -> Array:
    """Absolute values in the dtype to compute in; `kind` is the caller's."""
    values = np.abs(_values(self))
    wide = kind in (dtypes.float64, dtypes.complex128)
    return values.astype(np.float64) if wide else values


@quiet()
def linalg_vector_norm(
    out: Tensor, self: Tensor, ord: Number, dim: Dims, keepdim: bool, dtype: dtype | None
) -> None:
    """The norm of order `ord` over `dim`; order 0 counts what is not 0."""
    if isinstance(ord, complex):
        raise refused(f"expected ord to be a real number, got {ord}")
    if not self.numel():
        store(out, 0)
        return
    axes = _axes(self, dim)
    if _count(self, axes) == 1:
        magnitudes = _magnitudes(self, dtype)
        _fill(out, magnitudes != 0 if ord == 0 else magnitudes)
        return
    check_supported(self, FLOAT8)
    _fill(out, _norm(_magnitudes(self, dtype), float(ord), axes))


# ---- histograms --------------------------------------------------------------------------------


def _limits(values: Array, low: Any, high: Any) -> tuple[float, float]:
    """The range that is divided: the given one, or that of the values, and never empty."""
    first, last = float(low), float(high)
    if first == last and values.size:
        first, last = float(values.min()), float(values.max())
    if not (math.isfinite(first) and math.isfinite(last)):
        raise refused(f"expected a finite range, got [{first}, {last}]")
    return (first - 1, last + 1) if first == last else (first, last)


@quiet()
def histc(out: Tensor, self: Tensor, bins: int, min: Number, max: Number) -> None:
    """How many elements fall into each of `bins` equal parts of a range; others are left out."""
    _check_out(out, self.dtype)
    check_supported(self, FLOAT8)
    if isinstance(min, complex) or isinstance(max, complex):
        raise refused(f"expected min and max to be real, got {min} and {max}")
    values = np.ravel(view(self))
    kind = values.dtype.type
    first, last = map(kind, _limits(values, min, max))
    values = values[(values >= first) & (values <= last)]
    # Rounded at each step as PyTorch does: which part an element at a border falls into shows it.
    at = ((values - first) * kind(bins) / (last - first)).astype(np.int64)
    store(out, np.bincount(np.minimum(at, bins - 1), minlength=bins))
