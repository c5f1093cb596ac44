"""Joining, splitting and grids of tensors, written with views, cat and stack.

Called for tensors of all kinds; the operators underneath are those of PyTorch, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.views.geometry import check_results
from dispatch.kernels.meta import rules

__all__ = [
    "atleast_1d",
    "atleast_1d_each",
    "atleast_2d",
    "atleast_2d_each",
    "atleast_3d",
    "atleast_3d_each",
    "block_diag",
    "cartesian_prod",
    "column_stack",
    "column_stack_out",
    "combinations",
    "dsplit",
    "dsplit_at",
    "dstack",
    "dstack_out",
    "hsplit",
    "hsplit_at",
    "hstack",
    "hstack_out",
    "meshgrid",
    "tensor_split",
    "tensor_split_at",
    "tensor_split_tensor",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
    "vsplit_at",
    "vstack",
    "vstack_out",
]

_aten = ops.aten
Tensors = Sequence[Tensor]


# ---- dimensions in front and behind ------------------------------------------------------------


def atleast_1d(self: Tensor) -> Tensor:
    """One element becomes a vector."""
    return self if self.ndim else _aten.reshape(self, [1])


def atleast_2d(self: Tensor) -> Tensor:
    """A vector becomes a row."""
    if self.ndim == 0:
        return _aten.reshape(self, [1, 1])
    return _aten.unsqueeze(self, 0) if self.ndim == 1 else self


def atleast_3d(self: Tensor) -> Tensor:
    """A vector becomes a row, a matrix a stack of columns."""
    if self.ndim == 0:
        return _aten.reshape(self, [1, 1, 1])
    if self.ndim == 1:
        return _aten.unsqueeze(_aten.unsqueeze(self, 0), -1)
    return _aten.unsqueeze(self, -1) if self.ndim == 2 else self


def _each(one: Callable[[Tensor], Tensor]) -> Callable[[Tensors], list[Tensor]]:
    return lambda tensors: [one(t) for t in tensors]


atleast_1d_each = _each(atleast_1d)
atleast_2d_each = _each(atleast_2d)
atleast_3d_each = _each(atleast_3d)


# ---- joining -----------------------------------------------------------------------------------


def _check_some(tensors: Tensors) -> None:
    if not tensors:
        raise refused("expects a non-empty TensorList, got none")


def _columns(self: Tensor) -> Tensor:
    return self if self.ndim > 1 else _aten.reshape(self, [self.numel(), 1])


def _join(
    one: Callable[[Tensor], Tensor], dim: int | None
) -> tuple[Callable[[Tensors], Tensor], Callable[..., Tensor]]:
    """The operator and its out variant: every tensor made by `one`, then joined along `dim`.

    None: along the first dimension if there is one only, else along the second.
    """

    def parts(tensors: Tensors) -> tuple[list[Tensor], int]:
        _check_some(tensors)
        made = [one(t) for t in tensors]
        along = dim if dim is not None else int(made[0].ndim > 1)
        return made, along

    def kernel(tensors: Tensors) -> Tensor:
        return _aten.cat(*parts(tensors))

    def kernel_out(tensors: Tensors, *, out: Tensor) -> Tensor:
        return _aten.cat.out(*parts(tensors), out=out)

    return kernel, kernel_out


hstack, hstack_out = _join(atleast_1d, None)
vstack, vstack_out = _join(atleast_2d, 0)
dstack, dstack_out = _join(atleast_3d, 2)
column_stack, column_stack_out = _join(_columns, None)


def block_diag(tensors: Tensors) -> Tensor:
    """Matrices along the diagonal of one that is 0 elsewhere; vectors are rows."""
    if not tensors:
        return _aten.empty([1, 0])
    kind = tensors[0].dtype
    for i, t in enumerate(tensors):
        kind = dtypes.promote_types(kind, t.dtype)
        if t.ndim > 2:
            raise refused(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {t.ndim} dimensions"
            )
        if t.device != tensors[0].device:
            raise refused(f"expected all tensors on {tensors[0].device}, got {t.device}")
    blocks = [atleast_2d(t) for t in tensors]
    sizes = [sum(b.shape[d] for b in blocks) for d in (0, 1)]
    result = _aten.zeros(sizes, dtype=kind, device=tensors[0].device)
    row = column = 0
    for b in blocks:
        part = _aten.slice(result, 0, row, row + b.shape[0])
        part = _aten.slice(part, 1, column, column + b.shape[1])
        _aten.copy_(part, b)
        row, column = row + b.shape[0], column + b.shape[1]
    return result


# ---- splitting ---------------------------------------------------------------------------------


def _check_dims(self: Tensor, least: int, name: str) -> None:
    if self.ndim < least:
        raise refused(
            f"{name} requires a tensor with at least {least} dimension, "
            f"but got a tensor with {self.ndim} dimensions!"
        )


def _check_split(self: Tensor) -> None:
    if self.ndim == 0:
        raise refused(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )


def _split_along(
    name: str, least: int, dim_of: Callable[[Tensor], int]
) -> tuple[Callable[..., list[Tensor]], Callable[..., list[Tensor]]]:
    def kernel(self: Tensor, sections: int) -> list[Tensor]:
        _check_dims(self, least, name)
        dim = dim_of(self)
        if sections == 0 or self.shape[dim] % sections:
            raise refused(
                f"{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{self.shape[dim]} is not divisible by the split_size {sections}!"
            )
        return list(_aten.tensor_split.sections(self, sections, dim))

    def kernel_at(self: Tensor, indices: Sequence[int]) -> list[Tensor]:
        _check_dims(self, least, name)
        return list(_aten.tensor_split.indices(self, indices, dim_of(self)))

    return kernel, kernel_at


hsplit, hsplit_at = _split_along("torch.hsplit", 1, lambda t: int(t.ndim > 1))
vsplit, vsplit_at = _split_along("torch.vsplit", 2, lambda t: 0)
dsplit, dsplit_at = _split_along("torch.dsplit", 3, lambda t: 2)


def _wrapped(self: Tensor, dim: int) -> int:
    self.size(dim)  # IndexError
    return dim % self.ndim


def tensor_split(self: Tensor, sections: int, dim: int = 0) -> list[Tensor]:
    """Parts along `dim`, the first ones longer by one if they cannot be equal."""
    _check_split(self)
    dim = _wrapped(self, dim)
    if sections <= 0:
        raise refused(f"number of sections must be larger than 0, got {sections}")
    check_results(sections)
    least, longer = self.shape[dim] // sections, self.shape[dim] % sections
    parts, start = [], 0
    for i in range(sections):
        end = start + least + (1 if i < longer else 0)
        parts.append(_aten.slice(self, dim, start, end))
        start = end
    return parts


def tensor_split_at(self: Tensor, indices: Sequence[int], dim: int = 0) -> list[Tensor]:
    """Parts along `dim` between the places given."""
    _check_split(self)
    dim = _wrapped(self, dim)
    starts, ends = [0, *indices], [*indices, self.shape[dim]]
    return [_aten.slice(self, dim, a, b) for a, b in zip(starts, ends, strict=True)]


def tensor_split_tensor(
    self: Tensor, tensor_indices_or_sections: Tensor, dim: int = 0
) -> list[Tensor]:
    """A number of parts, or places, in an int64 tensor."""
    given = tensor_indices_or_sections
    _check_split(self)
    if given.device.type != "cpu":
        raise refused(
            f"expected tensor_indices_or_sections with values on the CPU, got one on {given.device}"
        )
    if given.dtype is not dtypes.int64:
        raise refused(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, "
            f"but got {given.type().rpartition('.')[2].removesuffix('Tensor')}"
        )
    if given.ndim > 1:
        raise refused(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {given.ndim} dims"
        )
    if given.ndim == 0:
        sections: Any = given.item()
        return tensor_split(self, int(sections), dim)
    if rules.is_eager(given):
        return tensor_split_at(self, given.tolist(), dim)
    rules.need_tracing("tensor_indices_or_sections has no values to read")
    places: Any = [place.item() for place in given.unbind()]
    return tensor_split_at(self, places, dim)


def unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """`split` into tensors that are no views."""
    return [_aten.alias(part) for part in _aten.split(self, split_size, dim)]


def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """`split_with_sizes` into tensors that are no views."""
    return [_aten.alias(part) for part in _aten.split_with_sizes(self, split_sizes, dim)]


def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """`chunk` into tensors that are no views."""
    if self.ndim == 0:
        raise refused("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise refused(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self.size(dim)
    length = (size + chunks - 1) // chunks
    if length == 0 and size == 0:
        return list(_aten.unsafe_split_with_sizes(self, [0] * chunks, dim))
    return list(_aten.unsafe_split.Tensor(self, length, dim))


# ---- grids -------------------------------------------------------------------------------------


def _check_grid(tensors: Tensors, indexing: str) -> None:
    if not tensors:
        raise refused("meshgrid expects a non-empty TensorList")
    first = tensors[0]
    for t in tensors:
        if t.ndim > 1:
            raise refused(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{list(t.shape)}"
            )
        for what in ("dtype", "device"):
            one, other = getattr(first, what), getattr(t, what)
            if one != other:
                raise refused(
                    f"expects all tensors to have the same {what}, got {one} and {other}"
                )
    if indexing not in ("ij", "xy"):
        raise refused(f'indexing must be one of "xy" or "ij", got {indexing!r}')


def meshgrid(tensors: Tensors, *, indexing: str = "ij") -> list[Tensor]:
    """The coordinates of a grid, each expanded; "xy" exchanges the first two dimensions."""
    _check_grid(tensors, indexing)
    swapped = indexing == "xy" and len(tensors) > 1
    given = [tensors[1], tensors[0], *tensors[2:]] if swapped else list(tensors)
    sizes = [t.numel() for t in given]
    grids = []
    for i, t in enumerate(given):
        place = [1] * len(given)
        place[i] = -1
        grids.append(_aten.expand(_aten.view(t, place), sizes))
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return grids


def cartesian_prod(tensors: Tensors) -> Tensor:
    """All combinations of an element of each, as rows."""
    for t in tensors:
        if t.ndim != 1:
            raise refused(f"expected vectors, got a tensor of shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = _aten.meshgrid.indexing(tensors, indexing="ij")
    return _aten.stack([_aten.flatten(grid) for grid in grids], 1)


def _rising(n: int, r: int, strictly: bool, like: Tensor) -> Tensor:
    """Where the coordinates of a grid of r dimensions rise."""
    numbers = _aten.arange(n, dtype=dtypes.int64, layout=like.layout, device=like.device)
    grids = _aten.meshgrid([numbers] * r)
    mask = _aten.full([n] * r, True, dtype=dtypes.bool, layout=like.layout, device=like.device)
    compare = _aten.lt.Tensor if strictly else _aten.le.Tensor
    for low, high in pairwise(grids):
        mask = _aten.mul_.Tensor(mask, compare(low, high))
    return mask


def combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All selections of `r` elements of a vector, in its order, as rows."""
    if self.ndim != 1:
        raise refused(f"Expect a 1D vector, but got shape {list(self.shape)}")
    if r < 0:
        raise refused(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return _aten.empty([0], dtype=self.dtype, layout=self.layout, device=self.device)
    grids = _aten.meshgrid([self] * r)
    mask = _rising(self.numel(), r, not with_replacement, self)
    return _aten.stack([_aten.masked_select(grid, mask) for grid in grids], 1)
