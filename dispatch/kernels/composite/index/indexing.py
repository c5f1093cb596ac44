"""select_scatter and its kin: a copy of self with a part of it written."""

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "as_strided_scatter",
    "diagonal_scatter",
    "nonzero_numpy",
    "select_scatter",
    "slice_scatter",
    "where_true",
]


def _overlaps_itself(self: Tensor) -> bool:
    pairs = zip(self.shape, self.stride(), strict=True)
    return any(stride == 0 and size > 1 for size, stride in pairs)


def _copy(self: Tensor) -> Tensor:
    """A copy with self's very strides and offset, gaps and all; a clone if its elements overlap."""
    if rules.is_eager(self) and self.is_contiguous() and not self.storage_offset() and self.numel():
        return ops.aten.clone.default(self)
    if _overlaps_itself(self):
        return ops.aten.clone(self)
    offset = self.storage_offset()
    span = sum((n - 1) * step for n, step in zip(self.shape, self.stride(), strict=True)) + 1
    buffer = ops.aten.new_empty(self, [offset if rules.has_zero(self.shape) else offset + span])
    strided = ops.aten.as_strided(buffer, self.shape, self.stride(), offset)
    return ops.aten.copy_(strided, self)


def _is_open(self: Tensor, src: Tensor) -> bool:
    """Whether sizes are expressions. PyTorch's fake tensors write nothing then, and ask nothing."""
    if rules.is_eager(self):
        return False
    return any(type(n) is not int for n in (*self.shape, *src.shape))


def _write(part: Tensor, src: Tensor) -> None:
    if part.shape != src.shape:
        raise refused(
            f"expected src to have the shape {list(part.shape)} of the part that it "
            f"is written to, got {list(src.shape)}"
        )
    ops.aten.copy_.default(part, src)


def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of self with `src` in place of `self.select(dim, index)`."""
    result = _copy(self)
    if _is_open(self, src):
        return result
    _write(ops.aten.select(result, dim, index), src)
    return result


def slice_scatter(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy of self with `src` in place of a slice of it."""
    rules.wrap_dim(dim, self.ndim)
    result = _copy(self)
    if _is_open(self, src):
        return result
    _write(ops.aten.slice(result, dim, start, end, step), src)
    return result


def nonzero_numpy(self: Tensor) -> list[Tensor]:
    """The places of what is not zero, dimension by dimension, as numpy gives them."""
    whole = self if self.dim() else ops.aten.unsqueeze(self, 0)
    return list(ops.aten.unbind(ops.aten.nonzero(whole), 1))


def where_true(condition: Tensor) -> list[Tensor]:
    """`where(condition)`: the places where it holds, dimension by dimension."""
    return nonzero_numpy(condition)


def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy of self with `src` in place of a diagonal of it."""
    result = _copy(self)
    if _is_open(self, src):
        return result
    _write(ops.aten.diagonal(result, offset, dim1, dim2), src)
    return result


def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: list[int],
    stride: list[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A copy of self with `src` in place of `self.as_strided(size, stride, storage_offset)`."""
    result = _copy(self)
    part = ops.aten.as_strided(result, size, stride, storage_offset)
    _write(part, src)
    return result
