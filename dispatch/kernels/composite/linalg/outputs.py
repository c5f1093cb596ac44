"""Outputs of composites: new ones to be resized, and results copied into those that are given."""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused, scalar_type
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.outputs import resize_out

__all__ = ["check_castable", "into", "new"]

_aten = ops.aten


def new(like: Tensor, kind: dtype | None = None) -> Tensor:
    """An output without elements, for an out variant that resizes it."""
    return _aten.empty.memory_format([0], dtype=kind or like.dtype, device=like.device)


def check_castable(out: Tensor, kind: dtype) -> None:
    """Whether a result of `kind` can be copied into `out` (checkLinalgCompatibleDtype)."""
    if not dtypes.can_cast(kind, out.dtype):
        raise refused(
            f"Expected result to be safely castable from {scalar_type(kind)} dtype, but got result "
            f"with dtype {scalar_type(out.dtype)}"
        )


def into(out: Tensor, result: Tensor) -> Tensor:
    """`out`, resized to the result and filled with it."""
    check_castable(out, result.dtype)
    check_placed(result, out)
    return _aten.copy_(resize_out(out, result.shape), result)
