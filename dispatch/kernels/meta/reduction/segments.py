"""Shape functions of reductions of segments: one element for each segment along `axis`."""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["segment_reduce", "segment_reduce_backward", "segment_reduce_backward_out"]

_aten = ops.aten


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """The Meta kernel."""
    if indices is not None:
        raise refused("indices are not supported", NotImplementedError)
    if lengths is None and offsets is None:
        raise refused("expected lengths or offsets to be given")
    sizes = list(data.shape)
    given = offsets if lengths is None else lengths
    assert given is not None
    count = given.shape[rules.wrap_dim(axis, given.ndim, False)]
    sizes[rules.wrap_dim(axis, data.ndim, False)] = count if lengths is not None else count - 1
    return _aten.empty(sizes, dtype=data.dtype, device="meta")


def segment_reduce_backward(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    initial: Any = None,
) -> Tensor:
    """The Meta kernel: data's sizes, contiguous, in grad's dtype."""
    if lengths is None and offsets is None:
        raise refused("expected lengths or offsets to be given", AssertionError)
    return _aten.empty(list(data.shape), dtype=grad.dtype, device=grad.device)


def segment_reduce_backward_out(*args: Any, out: Tensor, **options: Any) -> Tensor:
    """The same into `out`."""
    found = segment_reduce_backward(*args, **options)
    if out.dtype is not found.dtype:
        raise refused(f"expected out to be {found.dtype} as grad is, got {out.dtype}")
    if out.shape != found.shape:
        _aten.resize_(out, list(found.shape))
    return out
