"""CPU bodies of joining tensors: cat and stack, on numpy. Each input is written to its place once.

Called by the structured kernels with an output of the right size; inputs may be of other dtypes.
"""

from collections.abc import Sequence

import numpy as np

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import bits

__all__ = ["cat", "stack"]


def cat(out: Tensor, tensors: Sequence[Tensor], dim: int) -> None:
    """Side by side along `dim`; tensors of one dimension and size 0 have no place."""
    if not out.numel():
        return
    parts = [t for t in tensors if t.numel()]
    dim %= out.ndim
    if all(t.dtype is out.dtype for t in parts):
        np.concatenate([bits(t) for t in parts], dim, out=bits(out))
        return
    start = 0
    for t in parts:
        ops.aten.copy_(ops.aten.narrow(out, dim, start, t.shape[dim]), t)
        start += t.shape[dim]


def stack(out: Tensor, tensors: Sequence[Tensor], dim: int) -> None:
    """Side by side along a new dimension `dim`."""
    if not out.numel():
        return
    if any(t.dtype is not out.dtype for t in tensors):
        for i, t in enumerate(tensors):
            ops.aten.copy_(ops.aten.select(out, dim, i), t)
        return
    target = np.moveaxis(bits(out), dim, 0)
    for i, t in enumerate(tensors):
        target[i] = bits(t)
