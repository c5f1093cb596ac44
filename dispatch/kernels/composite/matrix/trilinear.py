"""Sums of products of three tensors, and a weight kept in the range of float16."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.matrix.pairwise import multiply_sum
from dispatch.kernels.meta import rules

__all__ = ["saturate_weight_to_fp16", "trilinear"]

_aten = ops.aten
_LARGEST = 65504.0


def _expanded(t: Tensor, dims: Sequence[int]) -> Tensor:
    for d in sorted(dims):
        t = _aten.unsqueeze(t, d)
    return t


def trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """i1 * i2 * i3, each with new dimensions at its `expand`, summed over `sumdim`.

    Two products of pairs of matrices: dimensions that i3 has not are summed in the first. Where
    one of the three has no element, the sizes of the others are not compared (as in PyTorch).
    """
    ndim = i1.ndim + len(expand1)
    if not 0 <= unroll_dim < ndim:
        raise refused(f"expected unroll_dim from 0 to {ndim - 1}, got {unroll_dim}")
    i1, i2, i3 = (
        _expanded(t, dims) for t, dims in ((i1, expand1), (i2, expand2), (i3, expand3))
    )
    if not (i1.ndim == i2.ndim == i3.ndim):
        raise refused(f"expanded tensors have {i1.ndim}, {i2.ndim} and {i3.ndim} dimensions")
    if any(rules.holds(size == 0) for t in (i1, i2, i3) for size in t.shape):
        sizes = [
            i3.shape[d] if d not in expand3 else i2.shape[d] if d not in expand2 else i1.shape[d]
            for d in range(ndim)
            if d not in sumdim
        ]
        return _aten.new_zeros(i1, sizes)
    early = [d for d in sumdim if i3.shape[d] == 1]
    late = [d for d in sumdim if d not in early]
    pair = multiply_sum(i1, i2, early)
    result = multiply_sum(pair, i3, late)
    for d in sorted(sumdim, reverse=True):
        result = _aten.squeeze.dim(result, d)
    if result.dtype is not i1.dtype:  # autocast: PyTorch adds the products up in i1's dtype
        result = _aten._to_copy(result, dtype=i1.dtype)
    return _aten.contiguous(result)


def saturate_weight_to_fp16(weight: Tensor) -> Tensor:
    """The same tensor, values beyond float16's range set to its ends."""
    _aten.clamp_(_aten.contiguous(weight), -_LARGEST, _LARGEST)
    return weight
