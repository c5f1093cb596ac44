"""Meta kernels of the operators << and >>: the bitwise shifts, of integers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "ilshift_Scalar",
    "ilshift_Tensor",
    "irshift_Scalar",
    "irshift_Tensor",
    "lshift_Scalar",
    "lshift_Tensor",
    "rshift_Scalar",
    "rshift_Tensor",
]

_aten = ops.aten


def _shift(operator: Any) -> Callable[[Tensor, Any], Tensor]:
    def kernel(self: Tensor, other: Any) -> Tensor:
        if self.dtype not in INTEGRAL or rules.result_type(self, other) not in INTEGRAL:
            raise refused(f"expected integers, got {self.dtype}")
        result: Tensor = operator(self, other)
        return result

    return kernel


lshift_Tensor = _shift(_aten.bitwise_left_shift.Tensor)
lshift_Scalar = _shift(_aten.bitwise_left_shift.Tensor_Scalar)
ilshift_Tensor = _shift(_aten.bitwise_left_shift_.Tensor)
ilshift_Scalar = _shift(_aten.bitwise_left_shift_.Tensor_Scalar)
rshift_Tensor = _shift(_aten.bitwise_right_shift.Tensor)
rshift_Scalar = _shift(_aten.bitwise_right_shift.Tensor_Scalar)
irshift_Tensor = _shift(_aten.bitwise_right_shift_.Tensor)
irshift_Scalar = _shift(_aten.bitwise_right_shift_.Tensor_Scalar)
