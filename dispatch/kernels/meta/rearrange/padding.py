"""Shape functions of padding, with a constant and with what is there, and of the gradients.

Called by the structured kernels. Results are contiguous unless the function says otherwise. On the
meta device tensors get what those on CPU get.
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.rearrange.elements import like

__all__ = [
    "constant_pad_nd",
    "reflection_pad1d",
    "reflection_pad1d_backward",
    "reflection_pad2d",
    "reflection_pad2d_backward",
    "reflection_pad3d",
    "reflection_pad3d_backward",
    "replication_pad1d",
    "replication_pad1d_backward",
    "replication_pad2d",
    "replication_pad2d_backward",
    "replication_pad3d",
    "replication_pad3d_backward",
]

Ints = Sequence[int]


# ---- padding with a constant -------------------------------------------------------------------


def constant_pad_nd(self: Tensor, pad: Ints, value: Any) -> TensorSpec:
    """`pad` has two numbers for each dimension, the last dimension first.

    Cut only: strides are a clone's of the part that is left; else self's memory format stays.
    """
    sizes = _padded_sizes(self, pad)
    if all(n <= 0 for n in pad):
        return like(self, sizes, rules.dense_strides(sizes, self.stride()))
    return like(self, sizes, rules.strides_for(sizes, rules.suggest_memory_format(self)))


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
    if all(size < 1 for size in reversed(sizes[-n:])) or any(size < 0 for size in sizes):
        raise refused(
            f"padding {list(padding)} of shape {list(self.shape)} leaves nothing: {sizes}"
        )
    spec = like(self, sizes, _pad_strides(self, sizes, n))
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


# ---- gradients ---------------------------------------------------------------------------------


def _pad_backward(
    grad_output: Tensor, self: Tensor, padding: Ints, n: int, mirrored: bool
) -> TensorSpec:
    """self's sizes; the gradient has those of the padded tensor."""
    if len(padding) != 2 * n:
        raise refused(f"expected padding to have {2 * n} numbers, got {list(padding)}")
    if mirrored and (n != 2 or rules.is_eager(self)):
        _check_mirrored(self, padding)
    sizes = list(self.shape)
    for i in range(n):
        sizes[self.ndim - 1 - i] += padding[2 * i] + padding[2 * i + 1]
    if grad_output.ndim != self.ndim or list(grad_output.shape[-n:]) != sizes[-n:]:
        raise refused(
            f"expected grad_output of shape {sizes} for self of shape {list(self.shape)} and "
            f"padding {list(padding)}, got {list(grad_output.shape)}"
        )
    if grad_output.dtype is not self.dtype:
        raise refused(f"expected grad_output of {self.dtype}, got {grad_output.dtype}")
    if n == 1 or not rules.is_eager(self):
        return like(self, self.shape)
    return like(self, self.shape, rules.strides_for(self.shape, rules.suggest_memory_format(self)))


def reflection_pad1d_backward(grad_output: Tensor, self: Tensor, padding: Ints) -> TensorSpec:
    """self's sizes."""
    return _pad_backward(grad_output, self, padding, 1, True)


def reflection_pad2d_backward(grad_output: Tensor, self: Tensor, padding: Ints) -> TensorSpec:
    """The same in two dimensions."""
    return _pad_backward(grad_output, self, padding, 2, True)


def reflection_pad3d_backward(grad_output: Tensor, self: Tensor, padding: Ints) -> TensorSpec:
    """The same in three dimensions."""
    return _pad_backward(grad_output, self, padding, 3, True)


def replication_pad1d_backward(grad_output: Tensor, self: Tensor, padding: Ints) -> TensorSpec:
    """self's sizes."""
    return _pad_backward(grad_output, self, padding, 1, False)


def replication_pad2d_backward(grad_output: Tensor, self: Tensor, padding: Ints) -> TensorSpec:
    """The same in two dimensions."""
    return _pad_backward(grad_output, self, padding, 2, False)


def replication_pad3d_backward(grad_output: Tensor, self: Tensor, padding: Ints) -> TensorSpec:
    """The same in three dimensions."""
    return _pad_backward(grad_output, self, padding, 3, False)
