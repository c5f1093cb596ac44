"""Questions about tensors' metadata (torch._prims_common), as tests of fake tensors ask them."""

from typing import Any

from dispatch import Tensor
from dispatch.kernels.meta.rules import suggest_memory_format

__all__ = ["compare_tensor_meta", "suggest_memory_format"]


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
