"""CPU bodies of reading and writing by index and by mask, on numpy.

Called by the structured kernels with outputs of the right size and dtype. Elements that are only
moved are moved as plain bits; sums are made in the computation dtype and rounded once. Indices are
checked before anything is written.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import COMPLEX, RARE, WIDE_UNSIGNED
from dispatch._C.storage import _new_storage
from dispatch._C.tensor import Tensor, _new_strided, _numpy_view
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import (
    RARE_OR_COMPLEX32,
    Array,
    bits,
    check_supported,
    compute,
    number_of,
    quiet,
    store,
)
from dispatch.kernels.meta import rules

__all__ = [
    "gather",
    "index",
    "index_put",
    "index_select",
    "masked_fill",
    "masked_fill_scalar",
    "masked_scatter",
    "nonzero",
    "nonzero_out",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "scatter_value",
]

Key = tuple[Any, ...]  # slices and index arrays



def _copy(out: Tensor, self: Tensor) -> None:
    """self into `out`, unless the operator is in place."""
    if out is not self:
        np.copyto(bits(out), bits(self))


def _check_range(
    index: Array, size: int, error: type[Exception] = RuntimeError, low: int = 0
) -> None:
    """Indices lie in [low, size)."""
    if index.size and (index.min() < low or index.max() >= size):
        wrong = index[(index < low) | (index >= size)][0]
        raise refused(f"index {wrong} is out of bounds for a dimension of size {size}", error)


def _take(out: Array, values: Array, index: Array, dim: int) -> None:
    """out = values at `index` along `dim`; indices are in range or, negative, count from the end.

    numpy's take copies what is not contiguous, and buffers `out` when it checks the range.
    """
    if values.flags.c_contiguous and out.flags.c_contiguous:
        np.take(values, index, axis=dim, out=out, mode="wrap")
    else:
        out[...] = values[(slice(None),) * dim + (index,)]


# ---- index and index_put -----------------------------------------------------------------------


def _coordinates(values: Array) -> tuple[Array, ...]:
    """np.nonzero, which is slow on several dimensions."""
    return np.unravel_index(np.flatnonzero(values), values.shape)


def _read_indices(indices: Sequence[Tensor | None]) -> Key:
    """The key for numpy. A mask stands for as many indices as it has dimensions, perhaps none."""
    key: list[slice | Array] = []
    for item in indices:
        if item is None:
            key.append(slice(None))
            continue
        array = _numpy_view(item)
        if array.dtype in (np.bool_, np.uint8):
            key.extend(_coordinates(array) if array.ndim else ())
        else:
            key.append(array)
    return tuple(key)


def index(out: Tensor, self: Tensor, indices: Sequence[Tensor | None]) -> None:
    """What `indices` name, which numpy orders as PyTorch does."""
    if not out.numel():
        return
    key = _read_indices(indices)
    target, values = bits(out), bits(self)
    named = [d for d, item in enumerate(key) if not isinstance(item, slice)]
    if len(named) == 1:
        dim, positions = named[0], key[named[0]]
        size = self.shape[dim]
        _check_range(positions, size, IndexError, -size)
        _take(target, values, positions, dim)
        return
    try:
        target[...] = values[key]
    except IndexError as error:
        raise refused(f"{error}", IndexError) from None


def _indexed_shape(sizes: Sequence[int], key: Key) -> tuple[int, ...]:
    """The shape of `values[key]`."""
    named = [d for d, item in enumerate(key) if not isinstance(item, slice)]
    if not named:
        return tuple(sizes)
    try:
        shape = np.broadcast_shapes(*(key[d].shape for d in named))
    except ValueError as error:
        raise refused(f"indices do not broadcast: {error}", IndexError) from None
    rest = [n for d, n in enumerate(sizes) if d not in named]
    first = named[0] if named[-1] - named[0] == len(named) - 1 else 0
    return (*rest[:first], *shape, *rest[first:])


def _check_named(self: Tensor, key: Key) -> None:
    """No index fits a dimension of size 0, though there be nothing to write."""
    named = [(self.shape[d], item) for d, item in enumerate(key) if not isinstance(item, slice)]
    if 0 in (n for n, _ in named) and all(item.size for _, item in named):
        raise refused("an index is out of bounds for a dimension of size 0", IndexError)


def _check_mask(indices: Sequence[Tensor]) -> None:
    """Under a single mask, PyTorch fills with one value as masked_fill does: no mask of uint8."""
    if len(indices) == 1 and indices[0].dtype is dtypes.uint8:
        raise refused("one value under a mask needs a mask of dtype bool, got uint8")


def _broadcast(values: Array, shape: tuple[int, ...]) -> Array:
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise refused(
            f"values of shape {list(values.shape)} do not broadcast to the indexed shape "
            f"{list(shape)}"
        ) from None


def _accumulated(self: Tensor, key: Key, values: Array) -> Array:
    """self with `values` added one by one, each sum rounded to self's dtype."""
    result = _numpy_view(self).copy()
    with quiet():
        np.add.at(result, key, values)
    return result


def index_put(
    out: Tensor,
    self: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> None:
    """self with `values` at `indices`; of equal indices the last counts, or all, if accumulated."""
    key = _read_indices(indices)
    read = _numpy_view if accumulate else bits
    _check_named(self, key)
    if values.numel() == 1 and not accumulate:
        _check_mask([t for t in indices if t is not None])
    if values.dtype != self.dtype:  # one value for a mask
        values = values.to(self.dtype)
    given = _broadcast(read(values), _indexed_shape(self.shape, key))
    if not given.size:
        return _copy(out, self)
    check_supported(self, WIDE_UNSIGNED)
    try:
        if accumulate:
            _numpy_view(out)[...] = _accumulated(self, key, given)
            return
        if np.may_share_memory(given, bits(out)):
            given = given.copy()
        _copy(out, self)
        bits(out)[key] = given
    except IndexError as error:
        raise refused(f"{error}", IndexError) from None


# ---- along one dimension -----------------------------------------------------------------------


def index_select(out: Tensor, self: Tensor, dim: int, index: Tensor) -> None:
    """Slices along `dim`. PyTorch's kernel for dimension 1 has an exception type of its own."""
    positions = _numpy_view(index).reshape(-1)
    if self.ndim == 0:
        _check_range(positions, 1, IndexError)
        bits(out)[...] = bits(self)
        return
    dim = rules.wrap_dim(dim, self.ndim)
    if self.ndim == 1:
        check_supported(self, WIDE_UNSIGNED)
    elif positions.size and not self.shape[dim]:
        raise refused(f"dimension {dim} of self is empty")
    batched = self.ndim > 1 and (dim == 1 or not self.numel())
    error = RuntimeError if batched else IndexError
    _check_range(positions, self.shape[dim], error)
    if out.numel():
        _take(bits(out), bits(self), positions, dim)


def _cropped(array: Array, index: Array, dim: int = -1) -> Array:
    """The part of `array` that `index` covers, whole along `dim`."""
    part = [slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape)]
    return array[tuple(part)]


def _index_along(self: Tensor, dim: int, index: Tensor) -> tuple[int, Array]:
    """The wrapped dimension and the checked index, of one dimension at least."""
    dim = rules.wrap_dim(dim, self.ndim)
    positions = np.atleast_1d(_numpy_view(index))
    _check_range(positions, self.shape[dim] if self.ndim else 1)
    return dim, positions


def gather(out: Tensor, self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> None:
    """For each element of `index`, self's at this place along `dim`."""
    if not index.numel():
        return
    check_supported(self, RARE_OR_COMPLEX32)
    dim, positions = _index_along(self, dim, index)
    values, target = np.atleast_1d(bits(self)), np.atleast_1d(bits(out))
    if values.flags.c_contiguous:
        flat = _flat_positions(values.shape, dim, positions)
        target[...] = np.take(values.reshape(-1), flat, mode="wrap").reshape(target.shape)
    else:
        target[...] = np.take_along_axis(_cropped(values, positions, dim), positions, dim)


def _put(out: Tensor, self: Tensor, dim: int, index: Tensor, values: Array) -> None:
    dim, positions = _index_along(self, dim, index)
    _copy(out, self)
    target = _cropped(np.atleast_1d(bits(out)), positions, dim)
    np.put_along_axis(target, positions, values, dim)


def scatter(out: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """self with elements of `src` at `index` along `dim`; of equal indices the last counts."""
    if not index.numel():
        return _copy(out, self)
    check_supported(self, RARE_OR_COMPLEX32)
    positions = np.atleast_1d(_numpy_view(index))
    _put(out, self, dim, index, _cropped(np.atleast_1d(bits(src)), positions))


def scatter_value(
    out: Tensor, self: Tensor, dim: int, index: Tensor, value: bool | int | float | complex
) -> None:
    """The same with a number."""
    if not index.numel():
        return _copy(out, self)
    check_supported(self, RARE_OR_COMPLEX32)
    _put(out, self, dim, index, bits(number_of(value, self.dtype)))


def _flat_positions(shape: Sequence[int], dim: int, index: Array) -> Array:
    """Where the elements that `index` names lie in a contiguous array of `shape`."""
    steps = rules.contiguous_strides(shape)
    base: Array = np.zeros((1,) * len(shape), np.int64)
    for d, step in enumerate(steps):
        if d != dim:
            offsets = np.arange(index.shape[d], dtype=np.int64) * step
            base = base + offsets.reshape((-1,) + (1,) * (len(shape) - 1 - d))
    along = index if steps[dim] == 1 else index.astype(np.int64) * steps[dim]
    flat: Array = along + base
    return flat.reshape(-1)


def _reduced_into(
    out: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> None:
    """self's elements reduced with those of `src` that `index` sends there."""
    dim, positions = _index_along(self, dim, index)
    result = np.array(compute(self), order="C", ndmin=1)
    flat = _flat_positions(result.shape, dim, positions)
    values = _cropped(np.atleast_1d(compute(src)), positions).reshape(-1)
    target = result.reshape(-1)
    with quiet():
        if not include_self:
            target[flat] = _identity(reduce, target.dtype)
        _REDUCTIONS[reduce].at(target, flat, values)
        if reduce == "mean":
            target = _divided(target, flat, include_self)
    store(out, target.reshape(self.shape))


_REDUCTIONS = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


_REFUSED = {"mean": {dtypes.bool}, "amax": COMPLEX, "amin": COMPLEX}


def _identity(reduce: str, dtype: np.dtype[Any]) -> Any:
    """What a reduction starts from when self is left out."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def _divided(sums: Array, flat: Array, include_self: bool) -> Array:
    """Sums by the number of their terms; integers round down."""
    counts = np.bincount(flat, minlength=sums.size) + include_self
    counts = np.maximum(counts, 1).astype(sums.real.dtype)
    result: Array = sums // counts if sums.dtype.kind in "iu" else sums / counts
    return result


def scatter_add(out: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """self with elements of `src` added at `index` along `dim`."""
    if not index.numel():
        return _copy(out, self)
    check_supported(self, RARE_OR_COMPLEX32)
    _reduced_into(out, self, dim, index, src, "sum", True)


def scatter_reduce(
    out: Tensor,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
) -> None:
    """The same with any reduction; without self where something arrives, unless `include_self`."""
    if not index.numel():
        if reduce == "mean":
            check_supported(self, {dtypes.bool})
        return _copy(out, self)
    if not include_self:
        _index_along(self, dim, index)
    kinds = _REFUSED.get(reduce, set())
    check_supported(self, RARE_OR_COMPLEX32 | kinds)
    _reduced_into(out, self, dim, index, src, reduce, include_self)


# ---- masks -------------------------------------------------------------------------------------


def _fill(out: Tensor, self: Tensor, mask: Tensor, value: Tensor) -> None:
    if out.numel():
        check_supported(self, RARE)
    where = _numpy_view(mask)
    if np.may_share_memory(where, bits(out)):
        where = where.copy()
    _copy(out, self)
    np.copyto(bits(out), bits(value), where=where)


def masked_fill(out: Tensor, self: Tensor, mask: Tensor, value: Tensor) -> None:
    """`value` where `mask` is true, else self."""
    _fill(out, self, mask, number_of(ops.aten._local_scalar_dense(value), self.dtype))


def masked_fill_scalar(
    out: Tensor, self: Tensor, mask: Tensor, value: bool | int | float | complex
) -> None:
    """The same with a number."""
    _fill(out, self, mask, number_of(value, self.dtype))


def masked_scatter(out: Tensor, self: Tensor, mask: Tensor, source: Tensor) -> None:
    """Elements of `source`, one after the other, where `mask` is true, else self."""
    check_supported(self, RARE_OR_COMPLEX32)
    where = np.broadcast_to(_numpy_view(mask), tuple(out.shape))
    count = np.count_nonzero(where)
    if source.numel() < count:
        raise refused(f"the mask has {count} true elements, but source only {source.numel()}")
    values = bits(source).reshape(-1)[:count]
    _copy(out, self)
    bits(out)[where] = values


# ---- nonzero -----------------------------------------------------------------------------------


def _places(self: Tensor) -> tuple[Array, ...]:
    """Coordinates of the elements that are not 0, by dimension."""
    check_supported(self, RARE)
    values = bits(self) & 0x7FFF7FFF if self.dtype is dtypes.complex32 else _numpy_view(self)
    return _coordinates(np.atleast_1d(values))


def _write_places(out: Tensor, places: tuple[Array, ...]) -> None:
    target = _numpy_view(out)
    for d in range(target.shape[1]):
        target[:, d] = places[d]


def nonzero(self: Tensor) -> Tensor:
    """Indices of the elements that are not 0, one in each row; columns are contiguous."""
    places = _places(self)
    n = len(places[0])
    storage = _new_storage(n * self.ndim * 8)
    result = _new_strided(storage, dtypes.int64, [n, self.ndim], [1, n], 0)
    _write_places(result, places)
    return result


def nonzero_out(self: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    if out.dtype is not dtypes.int64:
        raise refused(f"expected out to have dtype int64, got {out.dtype}")
    result = nonzero(self)
    if tuple(out.shape) != tuple(result.shape):
        ops.aten.resize_(out, result.shape)
        ops.aten.as_strided_(out, result.shape, result.stride())
    ops.aten.copy_(out, result)
    return out
