"""Questions about tensors' metadata (torch._prims_common), as tests of fake tensors ask them."""

from collections.abc import Sequence
from typing import Any

import dispatch
from dispatch import Tensor, channels_last, channels_last_3d, memory_format, ops, sym_max
from dispatch.kernels.meta.rules import suggest_memory_format

__all__ = [
    "check_significant_strides",
    "compare_tensor_meta",
    "compute_required_storage_length",
    "dtype_to_type",
    "is_channels_last_contiguous",
    "is_channels_last_contiguous_2d",
    "is_channels_last_contiguous_3d",
    "is_channels_last_contiguous_or_false",
    "is_channels_last_contiguous_or_false_2d",
    "is_channels_last_contiguous_or_false_3d",
    "is_contiguous",
    "is_contiguous_for_memory_format",
    "is_contiguous_for_memory_format_or_false",
    "is_contiguous_or_false",
    "is_non_overlapping_and_dense_or_false",
    "make_contiguous_strides_for",
    "suggest_memory_format",
]


def is_contiguous(a: Tensor, false_if_dde: bool = False) -> bool:
    """Whether the elements lie in order without gaps; False too where nobody knows yet."""
    return a.is_contiguous()


def is_channels_last_contiguous_2d(a: Tensor, false_if_dde: bool = False) -> bool:
    """Whether images lie so with their channels last."""
    return a.ndim == 4 and a.is_contiguous(memory_format=channels_last)


def is_channels_last_contiguous_3d(a: Tensor, false_if_dde: bool = False) -> bool:
    """The same of volumes."""
    return a.ndim == 5 and a.is_contiguous(memory_format=channels_last_3d)


def is_channels_last_contiguous(a: Tensor) -> bool:
    """Whether either holds."""
    return is_channels_last_contiguous_2d(a) or is_channels_last_contiguous_3d(a)


def is_contiguous_for_memory_format(
    a: Tensor, *, memory_format: memory_format, false_if_dde: bool = False
) -> bool:
    """Whether the elements lie without gaps in the order of this format."""
    return a.is_contiguous(memory_format=memory_format)


def is_non_overlapping_and_dense_or_false(a: Tensor) -> bool:
    """Whether the elements lie without gaps in some order; False too where nobody knows yet."""
    return bool(ops.aten.is_non_overlapping_and_dense.default(a))


is_contiguous_or_false = is_contiguous
is_contiguous_for_memory_format_or_false = is_contiguous_for_memory_format
is_channels_last_contiguous_or_false = is_channels_last_contiguous
is_channels_last_contiguous_or_false_2d = is_channels_last_contiguous_2d
is_channels_last_contiguous_or_false_3d = is_channels_last_contiguous_3d


def check_significant_strides(
    a: Any, b: Any, *, only_cuda: bool = True, allow_rhs_unbacked: bool = False
) -> tuple[bool, int | None]:
    """(True, None), or (False, the first dimension of more than one element that differs).

    `only_cuda`: other devices than CUDA are not looked at.
    """
    if (only_cuda and "cuda" not in (a.device.type, b.device.type)) or a.numel() == 0:
        return True, None
    for dim, size in enumerate(a.shape):
        if size > 1 and a.stride(dim) != b.stride(dim):
            return False, dim
    return True, None


def compute_required_storage_length(
    shape: Sequence[Any], strides: Sequence[Any], storage_offset: Any
) -> Any:
    """Elements from the start of a storage to the last one that the geometry reaches."""
    if any(n == 0 for n in shape):
        return 0
    return 1 + storage_offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


def dtype_to_type(dtype: Any) -> type:
    """The Python type of a dtype's numbers: bool, int, float or complex."""
    if not isinstance(dtype, dispatch.dtype):
        raise AssertionError(f"dtype_to_type: expected a dtype, got {type(dtype)}")
    if dtype == dispatch.bool:
        return bool
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else int


def make_contiguous_strides_for(shape: Sequence[Any], row_major: bool = True) -> tuple[Any, ...]:
    """Strides without gaps; `row_major=False`: matrices of the last two dimensions by columns."""
    strides: list[Any] = []
    step: Any = 1
    for n in reversed(shape):
        strides.insert(0, step)
        step = step * sym_max(n, 1)
    if row_major or len(shape) < 2:
        return tuple(strides)
    return (*strides[:-2], 1, sym_max(shape[-2], 1))


def compare_tensor_meta(
    a: Any,
    b: Any,
    check_sizes: bool = True,
    check_strides: bool = False,
    *,
    check_conj: bool = True,
) -> None:
    """Compare class of object, sizes, dtype, device, and on request strides and offset.

    Strides of dimensions of one element, and of tensors without elements, may differ.

    Raises: AssertionError for what is no tensor, or another dtype or device or size;
        RuntimeError for other strides, another offset, another conjugate or negative bit.
    """
    for t in (a, b):
        if not isinstance(t, Tensor):
            raise AssertionError(f"compare_tensor_meta: expected a tensor, got {type(t)}")
    names = (("sizes", "shape"),) if check_sizes else ()
    for what, name in (*names, ("dtypes", "dtype"), ("devices", "device")):
        one, other = getattr(a, name), getattr(b, name)
        if one != other:
            raise AssertionError(f"{what} {one} and {other} are not equal")
    if check_strides:
        differing = [
            dim
            for dim, size in enumerate(a.shape)
            if size > 1 and a.stride(dim) != b.stride(dim)
        ]
        if differing and a.numel():
            raise RuntimeError(
                f"Stride mismatch! Strides are {a.stride()} and {b.stride()} (mismatched at "
                f"{differing[0]})!"
            )
        if a.storage_offset() != b.storage_offset():
            raise RuntimeError(
                f"Storage offset mismatch! They are {a.storage_offset()} and {b.storage_offset()}!"
            )
    if check_conj and a.is_conj() != b.is_conj():
        raise RuntimeError(f"Conj mismatch! is_conj is {a.is_conj()} and {b.is_conj()}")
    if a.is_neg() != b.is_neg():
        raise RuntimeError(f"Neg mismatch! is_neg is {a.is_neg()} and {b.is_neg()}")
