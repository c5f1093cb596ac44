"""Indexing: `x[...]` and `x[...] = value` as operators, in the order of PyTorch's indexing.

What is simple becomes `select`, `slice` and `unsqueeze`, dimension by dimension; tensors and lists
that remain are gathered for one `index` or `index_put_`. Registered into Tensor by `methods`.
"""

from __future__ import annotations

from operator import index as as_int
from typing import Any

from dispatch._C.dtypes import bool as bool_dtype, int64, uint8
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.tensor.arrays import number_tensor
from dispatch.tensor.data import tensor_for_index

__all__ = ["getitem", "setitem"]

_aten = ops.aten
_MASKS = (bool_dtype, uint8)
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_LONGEST_TUPLE = 32  # a list that is shorter may stand for a tuple


def getitem(self: Tensor, index: Any) -> Tensor:
    """`self[index]`: a view where slices, ints and None suffice, else a new tensor."""
    kind = type(index)
    if kind is int:
        return _select(self, 0, index, 0)
    if kind is slice:
        return _slice(self, 0, index)
    if index is None:
        return _aten.unsqueeze.default(self, 0)
    if index is Ellipsis:
        return _aten.alias.default(self)
    found, tensors = _apply(self, _as_tuple(index))
    if tensors:
        return _aten.index.Tensor(found, _on_device(tensors, found))
    return _aten.alias.default(found) if found is self else found


def setitem(self: Tensor, index: object, value: object) -> None:
    """`self[index] = value`."""
    source = _as_source(self, value)
    if index is False:
        return
    if index is Ellipsis:
        _copy_to(self, source)
        return
    if index is None or index is True:
        _copy_to(_aten.unsqueeze.default(self, 0), source)
        return
    if type(index) is slice:
        _copy_to(_slice(self, 0, index, always=False), source)
        return
    found, tensors = _apply(self, _as_tuple(index))
    if not tensors:
        _copy_to(found, source)
        return
    shape = _without_leading_ones(source.shape)
    if source.ndim and len(shape) != source.ndim:
        source = _aten.view.default(source, shape)
    _aten.index_put_.default(found, _on_device(tensors, found), source)


# ---- one entry of an index


def _select(self: Tensor, dim: int, index: int, real_dim: int) -> Tensor:
    if not _LOWEST <= index <= _HIGHEST:
        raise ValueError(f"index {index} does not fit in 64 bits")
    if self.ndim == 0:
        raise IndexError("index: a 0-d tensor has no element to choose, use item() for its value")
    size = self.size(dim)
    if not -size <= index < size:
        raise IndexError(
            f"index {index} is out of bounds for dimension {real_dim} with size {size}"
        )
    return _aten.select.int(self, dim, index)


def _slice(self: Tensor, dim: int, index: slice, *, always: bool = True) -> Tensor:
    """With `always` off, a slice that takes everything is left out."""
    step = 1 if index.step is None else _slice_int(index.step)
    if step <= 0:
        raise ValueError(f"slice: step must be greater than zero, got {step}")
    start = 0 if index.start is None else _slice_int(index.start)
    stop = (1 << 63) - 1 if index.stop is None else _slice_int(index.stop)
    if not always and start == 0 and step == 1 and stop >= self.size(dim):
        return self
    return _aten.slice.Tensor(self, dim, start, stop, step)


def _slice_int(value: Any) -> int:
    try:
        number = as_int(value)
    except TypeError:
        raise TypeError(
            f"slice indices must be integers or None or have an __index__ method, got {value!r}"
        ) from None
    return max(-(1 << 63), min(number, (1 << 63) - 1))


def _taken(entry: Tensor) -> int:
    """How many dimensions an index tensor takes: a mask as many as it has."""
    return entry.ndim if entry.dtype in _MASKS else 1


def _dims_taken(index: tuple) -> int:
    """How many dimensions of self the entries speak for."""
    n = 0
    for entry in index:
        if isinstance(entry, Tensor):
            n += _taken(entry)
        elif entry is not None and entry is not Ellipsis and not isinstance(entry, bool):
            n += 1
    return n


def _apply(self: Tensor, index: tuple) -> tuple[Tensor, list[Tensor | None]]:
    """Select, slice and unsqueeze; the tensors that are left, by dimension of the result."""
    index = tuple([_normal(entry) for entry in index])
    taken = _dims_taken(index)
    if taken > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    tensors: list[Tensor | None] = []
    found, dim = self, 0
    for real_dim, entry in enumerate(index):
        if entry is Ellipsis:
            dim += self.ndim - taken
        elif isinstance(entry, bool):
            found = _aten.unsqueeze.default(found, dim)
            dim = _record(tensors, dim, _flag_index(entry, found))
        elif isinstance(entry, int):
            found = _select(found, dim, entry, real_dim)
        elif entry is None:
            found, dim = _aten.unsqueeze.default(found, dim), dim + 1
        elif isinstance(entry, slice):
            found, dim = _slice(found, dim, entry, always=False), dim + 1
        else:
            found, dim = _apply_tensor(found, tensors, dim, entry, real_dim)
    return found, tensors


def _apply_tensor(
    found: Tensor, tensors: list[Tensor | None], dim: int, entry: Tensor, real_dim: int
) -> tuple[Tensor, int]:
    if entry.ndim == 0 and not entry.dtype.is_floating_point and not entry.dtype.is_complex:
        if entry.dtype in _MASKS:
            found = _aten.unsqueeze.default(found, dim)
            return found, _record(tensors, dim, _flag_index(bool(entry), found))
        return _select(found, dim, int(entry), real_dim), dim
    return found, _record(tensors, dim, entry)


def _record(tensors: list[Tensor | None], dim: int, entry: Tensor) -> int:
    """Enter an index tensor for dimension `dim`; the dimension that comes after it."""
    # a mask is one entry of the list, however many dimensions it takes
    position = dim - sum([_taken(t) - 1 for t in tensors if t is not None])
    tensors.extend([None] * (position - len(tensors)))
    tensors.append(entry)
    return dim + _taken(entry)


def _flag_index(flag: bool, like: Tensor) -> Tensor:
    """True keeps the new dimension, False empties it."""
    made = _aten.empty.memory_format(
        [1 if flag else 0], dtype=int64, layout=like.layout, device=like.device
    )
    return _aten.fill_.Scalar(made, 0) if flag else made


def _as_tuple(index: object) -> tuple:
    """A list with anything but numbers in it stands for a tuple, as it did in early numpy."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < _LONGEST_TUPLE and any(map(_is_entry, index)):
        return tuple(index)
    return (index,)


def _is_entry(item: object) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (Tensor, slice, list, tuple))


def _normal(entry: object) -> object:
    """An entry as one of the types that `_apply` knows."""
    if entry is None or entry is Ellipsis or isinstance(entry, (bool, int, slice, Tensor)):
        return entry
    if hasattr(entry, "__len__") and hasattr(entry, "__getitem__"):
        return tensor_for_index(entry)
    if hasattr(entry, "__index__"):
        return as_int(entry)
    raise IndexError(
        "an index is made of integers, slices, `...`, None, and long, byte or bool tensors, "
        f"got {type(entry).__name__}"
    )


def _on_device(tensors: list[Tensor | None], like: Tensor) -> list[Tensor | None]:
    """Index tensors that were made from lists follow the indexed tensor to its device."""
    device = like.device
    return [
        t if t is None or t.device == device or t.device.type != "cpu" else t.to(device)
        for t in tensors
    ]


# ---- assignment


def _as_source(self: Tensor, value: object) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float, complex)):
        if isinstance(value, int) and not _LOWEST <= value <= _HIGHEST:
            raise ValueError(f"value {value} does not fit in 64 bits")
        if self.device.type in ("cpu", "meta"):
            return _aten.lift_fresh.default(number_tensor(value, self.dtype))
        return _aten.full.default([], value, dtype=self.dtype, device=self.device)
    raise TypeError(f"can't assign a {type(value).__name__} to a tensor of {self.dtype}")


def _without_leading_ones(shape: tuple[int, ...]) -> list[int]:
    first = 0
    while first < len(shape) and shape[first] == 1:
        first += 1
    return list(shape[first:])


def _copy_to(target: Tensor, source: Tensor) -> None:
    if target.shape == source.shape:
        target.copy_(source)
    elif source.ndim == 0 and source.device.type == "cpu":
        target.fill_(source)
    else:
        source = _aten.view.default(source, _without_leading_ones(source.shape))
        target.copy_(_aten.expand.default(source, list(target.shape)))
