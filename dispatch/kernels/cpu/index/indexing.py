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
    "embedding",
    "embedding_bag",
    "embedding_dense_backward",
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


# ---- embeddings --------------------------------------------------------------------------------


def embedding(
    out: Tensor,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> None:
    """Rows of `weight`."""
    positions = _numpy_view(indices)
    _check_range(positions, weight.shape[0], IndexError)
    if out.numel():
        _take(bits(out), bits(weight), positions, 0)


def embedding_dense_backward(
    out: Tensor,
    grad_output: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> None:
    """Rows of the gradient added up by index; indices out of range count for nothing."""
    positions = _numpy_view(indices).reshape(-1)
    valid = (positions >= 0) & (positions < num_weights) & (positions != padding_idx)
    if valid.any():
        check_supported(grad_output, RARE)
    positions = positions[valid]
    rows = compute(grad_output).reshape(valid.size, out.shape[1])[valid]
    sums = np.zeros(tuple(out.shape), rows.dtype)
    if scale_grad_by_freq and positions.size:
        rows = rows / np.bincount(positions)[positions][:, None].astype(rows.real.dtype)
    with quiet():
        np.add.at(sums, positions, rows)
    store(out, sums)


_SUM, _MEAN, _MAX = range(3)


def _check_offsets(offsets: Array, n: int) -> None:
    if offsets.size and offsets[0] != 0:
        raise refused(f"expected the first offset to be 0, got {offsets[0]}")
    if offsets.size and offsets[-1] > n:
        raise refused(
            f"expected the last offset to be at most the number of indices {n}, got {offsets[-1]}"
        )


def _bag_of_each(starts: Array, n: int) -> Array:
    """Which bag each of `n` indices is in; the last bag has the rest."""
    marks = np.bincount(starts, minlength=n + 1)[:n] if starts.size else np.zeros(n, np.int64)
    bags: Array = np.cumsum(marks) - 1
    return bags


def _by_bag(ufunc: np.ufunc, rows: Array, bags: Array, n_bags: int, empty: Any) -> Array:
    """Rows of one bag reduced to one; bags come in order."""
    result = np.full((n_bags, rows.shape[1]), empty, rows.dtype)
    if bags.size:
        starts = np.flatnonzero(np.diff(bags, prepend=-1))
        result[bags[starts]] = ufunc.reduceat(rows, starts, axis=0)
    return result


def embedding_bag(
    out: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    max_indices: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
) -> None:
    """Rows of `weight` summed, averaged or maximised by bag; `offsets` are the bags' first indices.

    Also which bag an index is in (if noted), the bags' sizes without padding (unless summed), and
    the rows that the maxima are from (of means, the sizes again).
    """
    positions = _numpy_view(indices).reshape(-1)
    starts = _numpy_view(offsets)
    _check_offsets(starts, positions.size)
    _check_range(positions, weight.shape[0])
    if not offset2bag.numel() and include_last_offset:  # the kernel that sums without noting
        positions = positions[: starts[-1]]
    starts = starts[: starts.size - include_last_offset]
    bags = _bag_of_each(starts, positions.size)
    sizes = np.diff(starts, append=positions.size)
    if offset2bag.numel():
        _numpy_view(offset2bag)[...] = bags
    kept = positions != padding_idx
    if padding_idx >= 0:
        sizes = sizes - np.bincount(bags[~kept], minlength=sizes.size)
        positions, bags = positions[kept], bags[kept]
    _numpy_view(bag_size)[...] = sizes if mode != _SUM else 0
    if mode == _MAX:
        _max_of_bags(out, max_indices, compute(weight)[positions], bags, positions)
        return
    _numpy_view(max_indices)[...] = sizes if mode == _MEAN else 0
    rows = compute(weight)[positions]
    with quiet():
        if per_sample_weights is not None:
            rows = rows * compute(per_sample_weights)[: kept.size][kept][:, None]
        sums = _by_bag(np.add, rows, bags, sizes.size, 0)
        if mode == _MEAN:
            sums /= np.maximum(sizes, 1)[:, None].astype(sums.dtype)
    store(out, sums)


def _max_of_bags(
    out: Tensor, max_indices: Tensor, rows: Array, bags: Array, positions: Array
) -> None:
    """The largest of each column and its index; the first of equal ones; 0 for an empty bag.

    NaN is larger than nothing, and nothing than NaN: it counts where it comes first in its bag.
    """
    n_bags, columns = out.shape
    later = np.diff(bags, prepend=-1) == 0
    rows[np.isnan(rows) & later[:, None]] = -np.inf
    best = _by_bag(np.maximum, rows, bags, n_bags, 0)
    found = np.zeros((n_bags, columns), np.int64)
    if bags.size:
        hit = (rows == best[bags]) | np.isnan(rows)
        order = np.where(hit, np.arange(bags.size)[:, None], bags.size)
        first = _by_bag(np.minimum, order, bags, n_bags, bags.size)
        found = np.append(positions, 0)[first]
    _numpy_view(max_indices)[...] = found
    store(out, best)
