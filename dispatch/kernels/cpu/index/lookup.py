"""CPU bodies of reading and writing by index, and of searching, on numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import ALL_COMPLEX, RARE
from dispatch._C.structured import check_written
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import (
    RARE_OR_COMPLEX32,
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
from dispatch.kernels.meta.index import lookup as meta

__all__ = [
    "bucketize_scalar",
    "bucketize_tensor",
    "index_add",
    "index_copy",
    "index_fill_scalar",
    "index_fill_tensor",
    "isin_scalar_tensor",
    "isin_tensor_scalar",
    "isin_tensor_tensor",
    "masked_select",
    "masked_select_out",
    "put_",
    "searchsorted_scalar",
    "searchsorted_tensor",
    "take",
]

_aten = ops.aten


def _check_range(index: Array, size: int, low: int) -> None:
    if index.size and (index.min() < low or index.max() >= size):
        wrong = index[(index < low) | (index >= size)].flat[0]
        raise refused(f"index {wrong} is out of bounds for size {size}", IndexError)


# ---- elements counted as in one dimension ------------------------------------------------------


def take(out: Tensor, self: Tensor, index: Tensor) -> None:
    """Elements, negative indices counted from the end."""
    places = view(index)
    _check_range(places, self.numel(), -self.numel())
    if places.size:
        bits(out)[...] = bits(self).reshape(-1)[places]


def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Elements written, or added to."""
    meta.check_put(self, index, source)
    places = view(index).reshape(-1)
    _check_range(places, self.numel(), -self.numel())
    spots = np.unravel_index(places % max(self.numel(), 1), tuple(self.shape) or (1,))
    target = bits(self).reshape(1) if self.ndim == 0 else bits(self)
    if not accumulate:
        target[spots] = bits(source).reshape(-1)
    else:
        check_supported(self, RARE_OR_COMPLEX32)
        values = compute(self).copy().reshape(target.shape)
        with quiet():
            np.add.at(values, spots, compute(source).reshape(-1))
        store(self, values.reshape(tuple(self.shape)))
    return self


def _selected(self: Tensor, mask: Tensor) -> tuple[Array, Array]:
    if mask.dtype is not dtypes.bool:
        raise refused(f"expected a bool mask, got {mask.dtype}")
    both: tuple[Array, Array] = tuple(np.broadcast_arrays(bits(self), view(mask)))  # type: ignore[assignment]
    return both


def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask is true, in one dimension."""
    values, chosen = _selected(self, mask)
    out = _aten.new_empty(self, [int(np.count_nonzero(chosen))])
    bits(out)[...] = values[chosen]
    return out


def masked_select_out(self: Tensor, mask: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    if out.dtype is not self.dtype:
        raise refused(f"expected out to have dtype {self.dtype}, got {out.dtype}")
    check_written(out, self, mask)
    found = masked_select(self, mask)
    if list(out.shape) != list(found.shape):
        _aten.resize_(out, list(found.shape))
    return _aten.copy_(out, found)


# ---- slices along a dimension ------------------------------------------------------------------


def _copy(out: Tensor, self: Tensor) -> None:
    if out is not self:
        np.copyto(bits(out), bits(self))


def _rows(values: Array, dim: int) -> Array:
    """The dimension in front; a number as a row of one."""
    return values.reshape(1) if values.ndim == 0 else np.moveaxis(values, dim, 0)


@quiet()
def index_add(
    out: Tensor, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any
) -> None:
    """Slices of source times alpha added; an index may occur again."""
    if isinstance(alpha, float) and not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise refused("alpha of an integer tensor must be an integer")
    _check_range(view(index), self.shape[dim] if self.ndim else 1, 0)
    _copy(out, self)
    if not index.numel():
        return
    check_supported(self, RARE_OR_COMPLEX32)
    added = _rows(compute(source), dim)
    added = added if alpha == 1 else (added * alpha).astype(added.dtype)
    if is_narrow(self.dtype):
        target = _rows(view(out), dim)
        for place, row in zip(view(index).reshape(-1), added, strict=True):
            target[place] = (target[place].astype(np.float32) + row).astype(target.dtype)
    else:
        np.add.at(_rows(view(out), dim), view(index).reshape(-1), added)


def index_copy(out: Tensor, self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """Slices of source written."""
    _check_range(view(index), self.shape[dim] if self.ndim else 1, 0)
    _copy(out, self)
    if index.numel():
        _rows(bits(out), dim)[view(index).reshape(-1)] = _rows(bits(source), dim)


def index_fill_scalar(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Slices filled with a number; negative indices count from the end."""
    dim = meta.check_fill(self, dim, index, value)
    size = self.shape[dim] if self.ndim else 1
    _check_range(view(index), size, -size)
    if index.numel() and self.numel():
        filled = _aten.full([], value, dtype=self.dtype)
        _rows(bits(self), dim)[view(index).reshape(-1)] = bits(filled)[()]
    return self


def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """The same with the number in a tensor."""
    meta.check_fill(self, dim, index, value)
    return index_fill_scalar(self, dim, index, value.item())


# ---- places in sorted values -------------------------------------------------------------------


def _places(boundaries: Array, values: Array, right: bool) -> Array:
    return np.searchsorted(boundaries, values, "right" if right else "left")


_UNSEARCHED = RARE | {dtypes.bool} | ALL_COMPLEX


def searchsorted_tensor(
    out: Tensor,
    sorted_sequence: Tensor,
    self: Tensor,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
) -> None:
    """Where the values would be put in, row by row."""
    if not out.numel():
        return
    check_supported(sorted_sequence, _UNSEARCHED)
    right = right or side == "right"
    boundaries, values = compute(sorted_sequence), compute(self)
    if sorter is not None:
        boundaries = np.take_along_axis(boundaries, view(sorter), -1)
    if boundaries.ndim == 1:
        store(out, _places(boundaries, values, right))
        return
    for spot in np.ndindex(*boundaries.shape[:-1]):
        view(out)[spot] = _places(boundaries[spot], values[spot], right)


def searchsorted_scalar(
    out: Tensor,
    sorted_sequence: Tensor,
    self: Any,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
) -> None:
    """The same for a number."""
    number = _aten.full([], self, dtype=sorted_sequence.dtype)
    searchsorted_tensor(out, sorted_sequence, number, out_int32, right, side, sorter)


def bucketize_tensor(
    out: Tensor, self: Tensor, boundaries: Tensor, out_int32: bool, right: bool
) -> None:
    """The bucket of each value."""
    searchsorted_tensor(out, boundaries, self, out_int32, right, None, None)


def bucketize_scalar(
    out: Tensor, self: Any, boundaries: Tensor, out_int32: bool, right: bool
) -> None:
    """The bucket of a number."""
    searchsorted_scalar(out, boundaries, self, out_int32, right, None, None)


# ---- elements of a set -------------------------------------------------------------------------


def _members(out: Tensor, elements: Any, tested: Any, invert: bool) -> None:
    kind = rules.result_type(elements, tested)
    found, among = (
        compute(_aten.to.dtype(t, kind)) if isinstance(t, Tensor) else np.asarray(t)
        for t in (elements, tested)
    )
    store(out, np.isin(found, among, invert=invert))


def isin_tensor_tensor(
    out: Tensor, elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool
) -> None:
    """Whether each element is among others."""
    _members(out, elements, test_elements, invert)


def isin_tensor_scalar(
    out: Tensor, elements: Tensor, test_element: Any, assume_unique: bool, invert: bool
) -> None:
    """Whether each element is a number."""
    _members(out, elements, test_element, invert)


def isin_scalar_tensor(
    out: Tensor, element: Any, test_elements: Tensor, assume_unique: bool, invert: bool
) -> None:
    """Whether a number is among others."""
    _members(out, element, test_elements, invert)
