"""Shapes of the `prims` that copy, join and rearrange, and of reductions.

Called by the Meta kernels, and by the composite kernels for the checks. Dimensions are counted
from the front, never from the end (torch._prims_common.validate_idx).
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.prims.elementwise import real_of

__all__ = [
    "as_strided_scatter",
    "cat",
    "check_dim",
    "clone",
    "collapse",
    "collapsed_sizes",
    "convert_element_type",
    "copy_strided",
    "reduced",
    "reshape",
    "rev",
    "var",
]

Ints = Sequence[int]


def check_dim(dim: int, ndim: int) -> None:
    """Refuse what is no dimension of `ndim`."""
    if not 0 <= dim < ndim:
        raise refused(f"dimension {dim} is out of range for {ndim} dimensions", AssertionError)


def clone(self: Tensor, memory_format: dtypes.memory_format | None) -> TensorSpec:
    """Strides are kept where they are dense."""
    if memory_format is None or memory_format is dtypes.preserve_format:
        return TensorSpec(self.shape, self.dtype, rules.dense_like_strides(self))
    return TensorSpec(self.shape, self.dtype, rules.strides_for(self.shape, memory_format))


def convert_element_type(a: Tensor, dtype: dtypes.dtype) -> TensorSpec:
    """The same in another dtype; strides are kept where they are dense."""
    return TensorSpec(a.shape, dtype, rules.dense_like_strides(a))


def copy_strided(a: Tensor, stride: Ints) -> TensorSpec:
    """The same with other strides."""
    return TensorSpec(a.shape, a.dtype, stride)


def cat(tensors: Sequence[Tensor], dim: int) -> TensorSpec:
    """All lengths but that of `dim` are the same; the dtype is the first one's."""
    if dim < 0:
        raise refused(f"expected dim to be 0 or more, got {dim}", AssertionError)
    if not tensors:
        raise refused("expected tensors, got an empty list", IndexError)
    first = tensors[0]
    for tensor in tensors:
        if tensor.ndim != first.ndim:
            raise refused(
                f"expected tensors of {first.ndim} dimensions, got one of {tensor.ndim}",
                AssertionError,
            )
        pairs = enumerate(zip(first.shape, tensor.shape, strict=True))
        if any(d != dim and mine != other for d, (mine, other) in pairs):
            raise refused(
                f"expected tensors that differ in dimension {dim} only, got shapes "
                f"{list(first.shape)} and {list(tensor.shape)}"
            )
    if dim >= first.ndim:
        raise refused(f"dim {dim} is out of range for {list(first.shape)}", IndexError)
    sizes = list(first.shape)
    sizes[dim] = sum(tensor.shape[dim] for tensor in tensors)
    return TensorSpec(sizes, first.dtype)


def reshape(a: Tensor, shape: Ints) -> TensorSpec:
    """A contiguous copy with as many elements; no length is left open."""
    if any(length < 0 for length in shape):
        raise refused(f"expected lengths of 0 or more, got {list(shape)}")
    if rules.numel(shape) != a.numel():
        raise refused(f"{a.numel()} elements do not fit shape {list(shape)}", ValueError)
    return TensorSpec(shape, a.dtype)


def rev(a: Tensor, dims: Ints) -> TensorSpec:
    """As `a`."""
    for dim in dims:
        check_dim(dim, a.ndim)
    return TensorSpec(a.shape, a.dtype, rules.dense_like_strides(a))


def collapsed_sizes(a: Tensor, start: int, end: int) -> list[int]:
    """The sizes with dimensions from `start` to `end` (with it) as one."""
    sizes = list(a.shape) or [1]
    check_dim(start, len(sizes))
    check_dim(end, len(sizes))
    if end < start:
        raise refused(f"expected an end of at least start {start}, got {end}", ValueError)
    return [*sizes[:start], rules.numel(sizes[start : end + 1]), *sizes[end + 1 :]]


def collapse(a: Tensor, start: int, end: int) -> TensorSpec:
    """A contiguous copy with some dimensions as one."""
    return TensorSpec(collapsed_sizes(a, start, end), a.dtype)


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Ints, stride: Ints, storage_offset: int
) -> TensorSpec:
    """As self; `src` has the sizes of the window."""
    if rules.numel(size) and self.numel() <= storage_offset + sum(
        (length - 1) * step for length, step in zip(size, stride, strict=True)
    ):
        raise refused(
            f"sizes {list(size)} with strides {list(stride)} at offset {storage_offset} reach "
            f"beyond {self.numel()} elements"
        )
    if list(src.shape) != list(size):
        raise refused(f"expected src of shape {list(size)}, got {list(src.shape)}")
    return TensorSpec(self.shape, self.dtype, rules.dense_like_strides(self))


def reduced(inp: Tensor, dims: Ints | None, output_dtype: dtypes.dtype | None) -> TensorSpec:
    """Without `dims`; None stands for all of them. A tensor without dimensions counts as one."""
    gone = range(inp.ndim) if dims is None else dims
    for dim in gone:
        check_dim(dim, max(inp.ndim, 1))
    sizes = [length for d, length in enumerate(inp.shape) if d not in gone]
    return TensorSpec(sizes, output_dtype or inp.dtype)


def var(
    inp: Tensor, dims: Ints | None, correction: float | None, output_dtype: dtypes.dtype | None
) -> TensorSpec:
    """Without `dims`, in a real dtype."""
    return reduced(inp, dims, output_dtype or real_of(inp.dtype))
