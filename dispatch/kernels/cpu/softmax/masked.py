"""Softmax of what a mask leaves, and its gradient: what it hides has weight 0.

Called for `_masked_softmax`. The mask has input's sizes (type 2), or is one of attention: [L, L]
for every head (0), or [batch, L] of padding (1). Nothing left gives NaN.
"""

from __future__ import annotations

import math

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import check_dtype
from dispatch.kernels.meta import rules

__all__ = ["masked_softmax", "masked_softmax_backward"]

_aten = ops.aten


def _check_mask(mask: Tensor) -> None:
    if mask.dtype is not dtypes.bool:
        raise refused(f"expected mask to be bool, got {mask.dtype}")


def _whole_mask(self: Tensor, mask: Tensor, mask_type: int | None) -> Tensor:
    """The mask with self's sizes. Only a matrix beside four dimensions is one of attention."""
    sizes, given = list(self.shape), list(mask.shape)
    if sizes == given or mask.ndim != 2 or self.ndim != 4:
        mask_type = 2
    if mask_type is None:
        raise refused("expected mask_type to be given for a mask that has not self's shape")
    if mask_type not in (0, 1, 2):
        raise refused(f"expected mask_type to be 0, 1 or 2, got {mask_type}")
    wanted = {0: sizes[2:3] * 2, 1: [sizes[0], *sizes[2:3]] if sizes else [], 2: sizes}[mask_type]
    if given != wanted:
        raise refused(
            f"expected mask to have shape {wanted} for mask_type {mask_type}, got {given}"
        )
    if mask_type == 1:
        mask = _aten.view(mask, [given[0], 1, 1, given[1]])
    return _aten.expand(mask, sizes)


def masked_softmax(
    self: Tensor, mask: Tensor, dim: int | None = None, mask_type: int | None = None
) -> Tensor:
    """Softmax along `dim` (the last one) of the elements where the mask is false."""
    _check_mask(mask)
    hidden = _whole_mask(self, mask, mask_type)
    check_dtype(self.dtype, FLOATING)
    along = rules.wrap_dim(-1 if dim is None else dim, self.ndim)
    left = _aten.masked_fill.Scalar(self, hidden, -math.inf)
    found = _aten._softmax(left, along, False)
    return _aten.copy_(_aten.empty_like(self), found)


def masked_softmax_backward(
    grad_output: Tensor, output: Tensor, mask: Tensor, dim: int | None = None
) -> Tensor:
    """The gradient of self; what is hidden has none."""
    if grad_output.shape != mask.shape:
        raise refused(
            f"expected mask to have grad_output's shape {list(grad_output.shape)}, got"
            f" {list(mask.shape)}"
        )
    _check_mask(mask)
    along = rules.wrap_dim(-1 if dim is None else dim, grad_output.ndim)
    grad, weights = (_aten.masked_fill.Scalar(t, mask, 0) for t in (grad_output, output))
    found = _aten._softmax_backward_data(grad, weights, along, grad_output.dtype)
    return _aten.copy_(_aten.empty_like(grad_output), found)
