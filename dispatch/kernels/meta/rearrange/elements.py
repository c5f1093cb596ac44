"""Shape functions of rearranging and padding: repeat, flip, roll, tril, the paddings.

Called by the structured kernels. Results are contiguous unless the function says otherwise. On the
meta device tensors get what those on CPU get.
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "constant_pad_nd",
    "flip",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "repeat",
    "repeat_interleave",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "roll",
    "tril",
]

Ints = Sequence[int]


def _like(self: Tensor, sizes: Ints, strides: Ints | None = None) -> TensorSpec:
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
            f"expected at least {self.ndim} repeats for shape {list(self.shape)}, "
            f"got {list(repeats)}"
        )
    if any(n < 0 for n in repeats):
        raise refused(f"expected repeats of 0 or more, got {list(repeats)}")
    padded = (1,) * lead + tuple(self.shape)
    return _like(self, [size * n for size, n in zip(padded, repeats, strict=True)])


def flip(self: Tensor, dims: Ints) -> TensorSpec:
    """Strides are those of a clone."""
    rules.wrap_dims(dims, self.ndim)
    return _like(self, self.shape, rules.dense_like_strides(self))


def roll(self: Tensor, shifts: Ints, dims: Ints) -> TensorSpec:
    """A clone without elements; otherwise contiguous.

    With data, parts along a dimension are joined, which keeps channels_last.
    """
    for dim in dims:
        rules.wrap_dim(dim, self.ndim)
    if self.numel() == 0:
        return _like(self, self.shape, rules.dense_like_strides(self))
    if self.ndim == 0 and dims:
        raise refused(f"dimension {dims[0]} is given, but self has no dimensions", IndexError)
    if not shifts:
        raise refused("expected at least one shift")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise refused(f"expected as many shifts as dims, got {list(shifts)} and {list(dims)}")
    if dims and rules.is_eager(self):
        memory_format = rules.suggest_memory_format(self)
        return _like(self, self.shape, rules.strides_for(self.shape, memory_format))
    return _like(self, self.shape)


def tril(self: Tensor, diagonal: int) -> TensorSpec:
    """A triangle of the last two dimensions."""
    if self.ndim < 2:
        raise refused(f"expected self to have at least 2 dimensions, got {list(self.shape)}")
    return _like(self, self.shape)


def repeat_interleave(repeats: Tensor, *, output_size: int | None) -> Tensor:
    """The Meta kernel: how many elements there are is in the values, unless the caller says it."""
    if output_size is None:
        raise refused("a tensor without data needs the argument output_size")
    return ops.aten.new_empty(repeats, [output_size])


# ---- padding with a constant -------------------------------------------------------------------


def constant_pad_nd(self: Tensor, pad: Ints, value: Any) -> TensorSpec:
    """`pad` has two numbers for each dimension, the last dimension first.

    Cut only: strides are a clone's of the part that is left; else self's memory format stays.
    """
    sizes = _padded_sizes(self, pad)
    if all(n <= 0 for n in pad):
        return _like(self, sizes, rules.dense_strides(sizes, self.stride()))
    return _like(self, sizes, rules.strides_for(sizes, rules.suggest_memory_format(self)))


def _padded_sizes(self: Tensor, pad: Ints) -> list[int]:
    if len(pad) % 2 or len(pad) > 2 * self.ndim:
        raise refused(
            f"expected pad to have an even length of at most {2 * self.ndim}, got {list(pad)}"
        )
    sizes = list(self.shape)
    for i in range(len(pad) // 2):
        dim, before, after = self.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        left = sizes[dim] + min(before, 0) + min(after, 0)
        sizes[dim] += before + after
        if left < 0:
            raise refused(
                f"pad {list(pad)} gives dimension {dim} of shape "
                f"{list(self.shape)} a negative size once it is cut"
            )
    return sizes


# ---- padding with what is there ----------------------------------------------------------------


def reflection_pad1d(self: Tensor, padding: Ints) -> TensorSpec:
    """Mirrored at the first and last element."""
    return _pad(self, padding, 1, True)


def reflection_pad2d(self: Tensor, padding: Ints) -> TensorSpec:
    """The same along the last two dimensions; channels_last stays."""
    return _pad(self, padding, 2, True)


def reflection_pad3d(self: Tensor, padding: Ints) -> TensorSpec:
    """The same along the last three dimensions."""
    return _pad(self, padding, 3, True)


def replication_pad1d(self: Tensor, padding: Ints) -> TensorSpec:
    """The edge is repeated along the last dimension."""
    return _pad(self, padding, 1, False)


def replication_pad2d(self: Tensor, padding: Ints) -> TensorSpec:
    """The edge is repeated along the last two dimensions; channels_last stays."""
    _check_not_bool(self)
    return _pad(self, padding, 2, False)


def replication_pad3d(self: Tensor, padding: Ints) -> TensorSpec:
    """The same along the last three dimensions."""
    _check_not_bool(self)
    return _pad(self, padding, 3, False)


def _check_not_bool(self: Tensor) -> None:
    if self.dtype is dtypes.bool and not rules.is_eager(self):
        raise refused(f"self of dtype {self.dtype} is not supported")


def _pad(self: Tensor, padding: Ints, n: int, mirrored: bool) -> TensorSpec:
    """The result of padding the last `n` dimensions."""
    _check_pad_input(self, padding, n)
    if mirrored:
        _check_mirrored(self, padding)
    sizes = list(self.shape)
    for i in range(n):
        sizes[self.ndim - 1 - i] += padding[2 * i] + padding[2 * i + 1]
    if all(size < 1 for size in sizes[-n:]) or any(size < 0 for size in sizes):
        raise refused(
            f"padding {list(padding)} of shape {list(self.shape)} leaves nothing: {sizes}"
        )
    spec = _like(self, sizes, _pad_strides(self, sizes, n))
    if rules.is_eager(self) and (n == 3 or not mirrored or (n == 2 and self.ndim == 4)):
        strides = spec.strides or rules.contiguous_strides(sizes)
        return TensorSpec(sizes, self.dtype, strides, restride=True)
    return spec


def _check_pad_input(self: Tensor, padding: Ints, n: int) -> None:
    """Dimensions of size 0 are not allowed, but for a batch."""
    if len(padding) != 2 * n:
        raise refused(f"expected padding to have {2 * n} numbers, got {list(padding)}")
    batched = self.ndim == n + 2
    if (not batched and self.ndim != n + 1) or 0 in self.shape[batched:]:
        raise refused(
            f"expected self to have {n + 1} dimensions or {n + 2} with a batch, none but "
            f"the batch of size 0, got {list(self.shape)}"
        )


def _check_mirrored(self: Tensor, padding: Ints) -> None:
    """A mirror image is smaller than what it mirrors."""
    for i, amount in enumerate(padding):
        dim = self.ndim - 1 - i // 2
        if amount >= self.shape[dim]:
            raise refused(
                f"padding {amount} must be less than the size of dimension {dim} of shape "
                f"{list(self.shape)}"
            )


def _pad_strides(self: Tensor, sizes: Ints, n: int) -> tuple[int, ...] | None:
    """channels_last stays on CPU; in three dimensions only with data, and without a batch too."""
    in_space = n == 3 and rules.is_eager(self)
    in_plane = n == 2 and self.ndim == 4 and self.device.type != "cuda"
    if not (in_space or in_plane):
        return None
    strides: tuple[int, ...] = rules.strides_for(sizes, rules.suggest_memory_format(self))
    return strides
