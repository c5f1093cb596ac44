"""Outputs that programs give to operators which have no shape function to place them.

Called by out variants in `composite` and `cpu`, after their checks of dtypes and devices.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["resize_out"]


def resize_out(out: Tensor, sizes: Sequence[Any]) -> Tensor:
    """`out` with these sizes; a UserWarning if it had others and elements (at::resize_output)."""
    wanted = list(sizes)
    if list(out.shape) == wanted:
        return out
    if not rules.may_hold(out.numel() == 0):
        warnings.warn(
            "out: An output with one or more elements was resized since it had shape "
            f"{list(out.shape)}, which does not match the required output shape {wanted}",
            UserWarning,
            stacklevel=2,
        )
    return ops.aten.resize_(out, wanted)
