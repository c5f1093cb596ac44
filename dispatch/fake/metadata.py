"""The metadata of a tensor as one value (torch._subclasses.fake_tensor.TensorMetadata)."""

from dataclasses import dataclass
from typing import Any

from dispatch._C import dtypes
from dispatch.fake.questions import is_sparse_any

__all__ = [
    "SingletonConstant",
    "TensorMetadata",
    "assert_eq",
    "assert_metadata_eq",
    "extract_tensor_metadata",
    "suggest_memory_format",
]


def assert_eq(a: Any, b: Any) -> None:
    """AssertionError unless the two are equal."""
    if a != b:
        raise AssertionError(f"{a} != {b}")


def assert_metadata_eq(
    assert_eq: Any, m1: Any, m2: Any, *, skip_symbolic: bool = False, skip_leaf: bool = False
) -> None:
    """Ask `assert_eq` of every piece of two tensors' metadata, and of their bases' and gradients'.

    Not of devices: the one may be on meta. `skip_symbolic`: nor of sizes, strides and offsets.
    """
    for name in ("dtype", "requires_grad", "layout", *(() if skip_leaf else ("is_leaf",))):
        assert_eq(getattr(m1, name), getattr(m2, name))
    for name in ("is_inference", "is_conj", "is_neg", "_is_view"):
        assert_eq(getattr(m1, name)(), getattr(m2, name)())
    if not skip_symbolic:
        assert_eq(m1.shape, m2.shape)
        assert_eq(m1.stride(), m2.stride())
        assert_eq(m1.storage_offset(), m2.storage_offset())
    for name in ("grad", "_base"):
        if name == "grad" and not (m1.is_leaf and m2.is_leaf):
            continue
        mine, theirs = getattr(m1, name), getattr(m2, name)
        assert_eq(mine is None, theirs is None)
        if mine is not None:
            assert_metadata_eq(
                assert_eq, mine, theirs, skip_symbolic=skip_symbolic, skip_leaf=skip_leaf
            )


class SingletonConstant:
    """Stands for "no value" where None is one."""


@dataclass(slots=True)
class TensorMetadata:
    """What the results of operators may depend on."""

    dtype: Any
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    device: Any
    layout: Any
    memory_format: Any
    storage_offset: int
    storage_bytes: int | None
    requires_grad: bool
    is_quantized: bool
    is_conj: bool
    is_neg: bool
    is_inference: bool
    is_sparse: bool
    is_coalesced: bool | None
    dense_dim: int | None
    sparse_dim: int | None


def _is_permuted_for(t: Any, order: tuple[int, ...]) -> bool:
    """Whether the strides grow along `order`, which tells a channels-last tensor from others."""
    step = 0
    strides = t.stride()
    if strides[1] == 0:
        return False
    for dim in order:
        if t.shape[dim] == 0 or strides[dim] < step:
            return False
        if dim == 0 and step == strides[1]:
            return False
        step = strides[dim] * (t.shape[dim] if t.shape[dim] > 1 else 1)
    return True


def suggest_memory_format(x: Any) -> Any:
    """The memory format that a result of the same layout should have (torch._prims_common)."""
    if str(x.layout).endswith("strided") and x.dim() == 4 and _is_permuted_for(x, (1, 3, 2, 0)):
        return dtypes.channels_last
    if str(x.layout).endswith("strided") and x.dim() == 5 and _is_permuted_for(x, (1, 4, 3, 2, 0)):
        return dtypes.channels_last_3d
    return dtypes.contiguous_format


def extract_tensor_metadata(t: Any) -> TensorMetadata:
    """The metadata of `t`; `memory_format` is None for a tensor that is dense in none."""
    sparse = is_sparse_any(t)
    memory_format = suggest_memory_format(t)
    if sparse or not t.is_contiguous(memory_format=memory_format):
        memory_format = None
    return TensorMetadata(
        t.dtype,
        t.shape,
        () if sparse else t.stride(),
        t.device,
        t.layout,
        memory_format,
        t.storage_offset(),
        None if sparse else t.untyped_storage().nbytes(),
        t.requires_grad,
        t.is_quantized,
        t.is_conj(),
        t.is_neg(),
        t.is_inference(),
        t.is_sparse,
        t.is_coalesced() if t.is_sparse else None,
        t.dense_dim() if sparse else None,
        t.sparse_dim() if sparse else None,
    )
