"""Copies to a dtype or a place by a name of its own, and those that other libraries make lazily.

Composite: written with `to`, `clone` and views.
"""

from __future__ import annotations

from collections.abc import Callable

from dispatch._C import dtypes
from dispatch._C.arrays import _new_strided
from dispatch._C.dtypes import device, dtype
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "_fw_primal",
    "_fw_primal_copy",
    "_lazy_clone",
    "_make_dual",
    "_make_dual_copy",
    "_new_zeros_with_same_feature_meta",
    "_pin_memory",
    "_reshape_copy",
    "_reshape_from_tensor",
    "_to_cpu",
    "_unpack_dual",
    "cast_byte",
    "cast_char",
    "cast_double",
    "cast_float",
    "cast_half",
    "cast_int",
    "cast_long",
    "cast_short",
    "is_pinned",
    "pin_memory",
    "to_dense",
    "to_dense_backward",
]

_aten = ops.aten


def _cast(to: dtype) -> Callable[..., Tensor]:
    def kernel(self: Tensor, non_blocking: bool = False) -> Tensor:
        return self if self.dtype is to else _aten.to.dtype(self, to, non_blocking)

    return kernel


cast_byte = _cast(dtypes.uint8)
cast_char = _cast(dtypes.int8)
cast_double = _cast(dtypes.float64)
cast_float = _cast(dtypes.float32)
cast_half = _cast(dtypes.float16)
cast_int = _cast(dtypes.int32)
cast_long = _cast(dtypes.int64)
cast_short = _cast(dtypes.int16)


def _to_cpu(tensors: list[Tensor]) -> list[Tensor]:
    """Each tensor on the CPU."""
    return [_aten.to.device(t, device("cpu"), t.dtype) for t in tensors]


def to_dense(
    self: Tensor, dtype: dtype | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """self, in another dtype if asked: it is dense."""
    return self if dtype is None else _aten.to.dtype(self, dtype)


def to_dense_backward(grad: Tensor, input: Tensor, masked_grad: bool | None = None) -> Tensor:
    """The gradient in the input's dtype."""
    return _aten.to.dtype(grad, input.dtype)


# ---- memory ------------------------------------------------------------------------------------


def is_pinned(self: Tensor, device: device | None = None) -> bool:
    """Whether an accelerator can read the memory directly: there is none."""
    return False


def _pin_memory(self: Tensor, device: device | None = None) -> Tensor:
    raise refused("there is no accelerator to pin memory for")


def pin_memory(self: Tensor, device: device | None = None) -> Tensor:
    """self, if it is pinned; else a copy in pinned memory."""
    return self if _aten.is_pinned(self, device) else _aten._pin_memory(self, device)


def _lazy_clone(self: Tensor) -> Tensor:
    """A copy of the whole storage, seen as self sees its own. It is made at once."""
    storage = self.untyped_storage().clone()
    sizes, strides = list(self.shape), list(self.stride())
    copy: Tensor = _new_strided(storage, self.dtype, sizes, strides, self.storage_offset())
    return copy


def _reshape_copy(self: Tensor, size: list[int]) -> Tensor:
    """`reshape`, always into memory of its own."""
    made = _aten.clone(self, memory_format=dtypes.contiguous_format)
    return _aten.view(made, size)


def _reshape_from_tensor(self: Tensor, shape: Tensor) -> Tensor:
    """`reshape` to the sizes in a vector."""
    if shape.ndim != 1:
        raise refused(f"expected shape as a vector, got {list(shape.shape)}")
    if shape.dtype is not dtypes.int64:
        raise refused(f"expected shape of dtype int64, got {shape.dtype}")
    return _aten.reshape(self, shape.tolist())


def _new_zeros_with_same_feature_meta(
    self: Tensor, other: Tensor, *, self_num_batch_dims: int = 0
) -> Tensor:
    """Zeros that lie in memory as other does, once for each of self's first dimensions."""
    sizes, strides = list(other.shape), list(other.stride())
    length = other.untyped_storage().nbytes() // other.element_size()
    total = length
    for n in reversed(list(self.shape[:self_num_batch_dims])):
        sizes.insert(0, n)
        strides.insert(0, total)
        total *= n
    zeros = _aten.new_zeros(other, [total])
    return _aten.as_strided(zeros, sizes, strides, other.storage_offset())


# ---- forward-mode gradients: there are no levels ------------------------------------------------


def _fw_primal(self: Tensor, level: int) -> Tensor:
    """self without its tangent, which it never has."""
    return _aten.alias(self)


def _fw_primal_copy(self: Tensor, level: int) -> Tensor:
    if not self.is_inference():
        raise refused("expected an inference tensor")
    return _aten.clone(self, memory_format=dtypes.contiguous_format)


def _no_level(level: int) -> Exception:
    return refused(f"there is no forward-mode level {level}")


def _make_dual(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    raise _no_level(level)


def _make_dual_copy(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    raise _no_level(level)


def _unpack_dual(dual: Tensor, level: int) -> tuple[Tensor, None]:
    """The tensor and its tangent, which it never has."""
    return _aten._fw_primal(dual, level), None
