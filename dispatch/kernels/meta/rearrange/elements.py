"""Shape functions of rearranging: repeat, flip, roll, tril.

Called by the structured kernels. Results are contiguous unless the function says otherwise. On the
meta device tensors get what those on CPU get.
"""

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "flip",
    "like",
    "repeat",
    "repeat_interleave",
    "roll",
    "tril",
]

Ints = Sequence[int]


def like(self: Tensor, sizes: Ints, strides: Ints | None = None) -> TensorSpec:
    """A result of self's dtype. PyTorch's Meta kernels copy it into an `out` of any safe dtype."""
    if rules.is_eager(self):
        return TensorSpec(sizes, self.dtype, strides)
    return TensorSpec(sizes, self.dtype, strides, cast="safe", overlap="any")


# ---- rearranging -------------------------------------------------------------------------------


def repeat(self: Tensor, repeats: Ints) -> TensorSpec:
    """self, `repeats` times along each dimension; new dimensions come first."""
    lead = len(repeats) - self.ndim
    if lead < 0:
        raise refused(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor, got {list(repeats)} for shape {list(self.shape)}"
        )
    if not all(rules.holds(n >= 0) for n in repeats):
        raise refused(f"expected repeats of 0 or more, got {list(repeats)}")
    padded = (1,) * lead + tuple(self.shape)
    return like(self, [size * n for size, n in zip(padded, repeats, strict=True)])


def flip(self: Tensor, dims: Ints) -> Shaped:
    """Strides are those of `empty_like`; the body is handed the dimensions, wrapped."""
    wrapped = rules.wrap_dims(dims, self.ndim)
    return Shaped(like(self, self.shape, rules.empty_like_strides(self)), wrapped)


def _check_shifts(shifts: Ints, dims: Ints) -> None:
    if not shifts:
        raise refused("`shifts` required: expected at least one")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise refused(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")


def roll(self: Tensor, shifts: Ints, dims: Ints) -> Shaped:
    """A clone without elements; otherwise contiguous. The body is handed wrapped dimensions.

    With data, parts along a dimension are joined, which keeps channels_last; a dimension that stays
    as it is is copied, which does not.
    """
    eager = rules.is_eager(self)
    if eager:
        _check_shifts(shifts, dims)
    if self.numel() == 0:
        wrapped = [] if eager else [rules.wrap_dim(dim, self.ndim) for dim in dims]
        strides = None if eager and not dims else rules.dense_like_strides(self)
        return Shaped(like(self, self.shape, strides), wrapped)
    wrapped = [rules.wrap_dim(dim, self.ndim) for dim in dims]
    if self.ndim == 0 and dims:
        raise refused(f"Dimension specified as {dims[0]} but tensor has no dimensions", IndexError)
    _check_shifts(shifts, dims)
    moves = (n % self.shape[d] for n, d in zip(shifts, wrapped, strict=False))
    if dims and eager and all(moves):
        memory_format = rules.suggest_memory_format(self)
        strides = rules.strides_for(self.shape, memory_format)
        return Shaped(like(self, self.shape, strides), wrapped)
    return Shaped(like(self, self.shape), wrapped)


def tril(self: Tensor, diagonal: int) -> TensorSpec:
    """A triangle of the last two dimensions."""
    if self.ndim < 2:
        raise refused(f"input tensor must have at least 2 dimensions, got {list(self.shape)}")
    return like(self, self.shape)


def repeat_interleave(repeats: Tensor, *, output_size: int | None) -> Tensor:
    """The Meta kernel: how many elements there are is in the values, unless the caller says it."""
    if output_size is None:
        raise refused("a tensor without data needs the argument output_size")
    return ops.aten.new_empty(repeats, [output_size])
