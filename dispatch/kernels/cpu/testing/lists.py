"""Operators that PyTorch's own tests call with optional lists of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import store, view

__all__ = ["test_optional_floatlist", "test_optional_intlist"]


def _plus_list(kind: dtypes.dtype) -> Callable[..., Tensor]:
    def kernel(values: Tensor, addends: Sequence[float] | None) -> Tensor:
        if addends is None:
            return values
        if values.ndim != 1:
            raise refused(f"expected values to be a vector, got {list(values.shape)}")
        if values.dtype is not kind:
            raise refused(f"expected values of {kind}, got {values.dtype}")
        if len(addends) < len(values):
            raise refused(f"expected {len(values)} addends, got {len(addends)}")
        out: Tensor = ops.aten.empty_like(values)
        store(out, view(values) + addends[: len(values)])
        return out

    return kernel


test_optional_intlist = _plus_list(dtypes.int32)
test_optional_floatlist = _plus_list(dtypes.float32)
