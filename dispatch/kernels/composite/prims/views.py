"""The `prims` that make views: sizes and strides are checked, then `aten` makes the view.

Dimensions are counted from the front. The same kernels serve CPU and Meta, as views do everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.prims.arrangement import check_dim, collapsed_sizes
from dispatch.kernels.meta.prims.elementwise import real_of

__all__ = [
    "as_strided",
    "broadcast_in_dim",
    "collapse_view",
    "conj",
    "imag",
    "real",
    "split_dim",
    "squeeze",
    "transpose",
    "view_of",
    "view_of_dtype",
]

Ints = Sequence[int]
_aten = ops.aten


def _check_complex(a: Tensor) -> None:
    if not a.dtype.is_complex:
        raise refused(f"expected a complex dtype, got {a.dtype}")


def as_strided(a: Tensor, size: Ints, stride: Ints, storage_offset: int) -> Tensor:
    """A window into the storage."""
    if len(size) != len(stride):
        message = f"expected as many strides as sizes, got {list(size)} and {list(stride)}"
        raise refused(message, AssertionError)
    if storage_offset < 0:
        raise refused(f"expected an offset of 0 or more, got {storage_offset}", AssertionError)
    steps = zip(size, stride, strict=True)
    needed = 1 + storage_offset + sum((length - 1) * step for length, step in steps)
    held = a.untyped_storage().nbytes() // a.element_size()
    if rules.numel(size) and needed > held:
        raise refused(
            f"sizes {list(size)} with strides {list(stride)} at offset {storage_offset} need "
            f"{needed} elements, the storage has {held}",
            ValueError,
        )
    return _aten.as_strided(a, size, stride, storage_offset)


def broadcast_in_dim(a: Tensor, shape: Ints, broadcast_dimensions: Ints) -> Tensor:
    """Expanded to `shape`; `broadcast_dimensions` says where in it each dimension comes."""
    places = list(broadcast_dimensions)
    if a.ndim != len(places):
        message = f"expected a place for each of {a.ndim} dimensions, got {places}"
        raise refused(message, AssertionError)
    if any(not 0 <= place < len(shape) for place in places) or places != sorted(set(places)):
        message = f"expected ascending dimensions of {list(shape)}, got {places}"
        raise refused(message, AssertionError)
    for length, place in zip(a.shape, places, strict=True):
        if length not in (1, shape[place]):
            raise refused(f"{length} cannot be broadcast to {shape[place]}")
    for d in range(len(shape)):
        if d not in places:
            a = _aten.unsqueeze(a, d)
    return _aten.expand(a, shape)


def collapse_view(a: Tensor, start: int, end: int) -> Tensor:
    """Dimensions from `start` to `end` (with it) as one, if they lie one behind the other."""
    sizes = collapsed_sizes(a, start, end)
    if rules.compute_view_strides(a.shape, a.stride(), sizes) is None:
        raise refused(f"strides {list(a.stride())} have no such view of {start} to {end}")
    return _aten.view(a, sizes)


def conj(a: Tensor) -> Tensor:
    """The conjugate, as a view with the bit turned."""
    _check_complex(a)
    return _aten.conj(a)


def _part(self: Tensor) -> Tensor:
    """Where there are only sizes PyTorch's answer is no view."""
    kind = real_of(self.dtype)
    strides = rules.elementwise_strides_meta(self.shape, [self], kind)
    return _aten.new_empty_strided(self, self.shape, strides, dtype=kind)


def real(self: Tensor) -> Tensor:
    """The real parts."""
    _check_complex(self)
    return _aten.real(self) if rules.is_eager(self) else _part(self)


def imag(self: Tensor) -> Tensor:
    """The imaginary parts."""
    _check_complex(self)
    return _aten.imag(self) if rules.is_eager(self) else _part(self)


def split_dim(a: Tensor, dim: int, outer_length: int) -> Tensor:
    """A dimension as two, the outer one of `outer_length`."""
    check_dim(dim, a.ndim)
    if outer_length < 0:
        raise refused(f"expected an outer length of 0 or more, got {outer_length}")
    if outer_length == 0:
        raise refused(f"{a.shape[dim]} cannot be split into 0 parts", ZeroDivisionError)
    inner, rest = divmod(a.shape[dim], outer_length)
    if rest:
        raise refused(f"{a.shape[dim]} is no multiple of {outer_length}", ValueError)
    return _aten.view(a, [*a.shape[:dim], outer_length, inner, *a.shape[dim + 1 :]])


def squeeze(a: Tensor, dimensions: Ints) -> Tensor:
    """Without these dimensions, each of length one."""
    for dim in dimensions:
        check_dim(dim, a.ndim)
        if a.shape[dim] != 1:
            message = f"dimension {dim} has length {a.shape[dim]}, expected 1"
            raise refused(message, AssertionError)
    return _aten.squeeze.dims(a, sorted(set(dimensions)))


def transpose(a: Tensor, permutation: Ints) -> Tensor:
    """The dimensions in another order."""
    if sorted(permutation) != list(range(a.ndim)):
        message = f"expected a permutation of {a.ndim} dimensions, got {list(permutation)}"
        raise refused(message, ValueError)
    return _aten.permute(a, permutation)


def view_of(a: Tensor) -> Tensor:
    """A view of all of it."""
    return _aten.view(a, a.shape)


def view_of_dtype(a: Tensor, dtype: dtypes.dtype) -> Tensor:
    """The same bytes in another dtype."""
    return _aten.view.dtype(a, dtype)
