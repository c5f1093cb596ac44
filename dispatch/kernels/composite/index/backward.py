"""Gradients of look-ups: added up, or put back, where the elements came from.

Composite: called by autograd's formulas and by users of `ops`.
"""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "gather_backward",
    "index_select_backward",
    "masked_scatter_backward",
    "masked_select_backward",
]

_aten = ops.aten


def gather_backward(
    grad: Tensor, self: Tensor, dim: int, index: Tensor, sparse_grad: bool
) -> Tensor:
    """Each element added where it came from."""
    if sparse_grad:
        raise refused("there are no sparse tensors for sparse_grad", NotImplementedError)
    result = _aten.new_zeros(grad, list(self.shape))
    return _aten.scatter_add_(result, dim, index, grad)


def index_select_backward(grad: Tensor, self_sizes: list[int], dim: int, index: Tensor) -> Tensor:
    """Each slice added where it came from."""
    return _aten.index_add(_aten.new_zeros(grad, self_sizes), dim, index, grad)


def masked_select_backward(grad: Tensor, input: Tensor, mask: Tensor) -> Tensor:
    """The elements at the places where the mask is true, zeros elsewhere."""
    zeros = _aten.zeros_like(_aten.expand(input, _broadcast(input, mask)))
    return _aten.masked_scatter_(zeros, mask, grad)


def _broadcast(input: Tensor, mask: Tensor) -> list[int]:
    return list(_aten.broadcast_tensors([input, mask])[0].shape)


def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: list[int]) -> Tensor:
    """What the mask let through, then zeros, in the sizes of the source."""
    if not rules.is_eager(grad_output):  # how much was let through is in the values
        return _aten.new_empty(grad_output, sizes)
    numel = 1
    for n in sizes:
        numel *= n
    found = _aten.masked_select(grad_output, mask)
    missing = numel - found.numel()
    if missing > 0:
        found = _aten.cat([found, _aten.new_zeros(grad_output, [missing])])
    if found.numel() != numel:
        raise refused(f"{found.numel()} elements were taken, sizes {sizes} have room for {numel}")
    return _aten.view(found, sizes)
