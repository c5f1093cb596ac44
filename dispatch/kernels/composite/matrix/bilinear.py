"""bilinear: a form of two vectors for each row of the weight, written with `_trilinear`."""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["bilinear"]

_aten: Any = ops.aten


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 for each k, plus the bias."""
    first, second = list(input1.shape), list(input2.shape)
    if len(first) != len(second) or first[:-1] != second[:-1]:
        raise refused(f"expected inputs of the same batch, got shapes {first} and {second}")
    if first[-1] != weight.size(1) or second[-1] != weight.size(2):
        raise refused(f"weight of shape {list(weight.shape)} does not fit {first} and {second}")
    if bias is not None and bias.size(0) != weight.size(0):
        raise refused(f"bias of shape {list(bias.shape)} does not fit {weight.size(0)} forms")
    flat = [_aten.reshape(t, [-1, t.size(-1)]) for t in (input1, input2)]
    forms = _aten._trilinear(flat[0], weight, flat[1], [1, 3], [0], [1, 2], [2, 3])
    out = _aten.reshape(forms, [*first[:-1], weight.size(0)])
    return out if bias is None else _aten.add.Tensor(out, bias)
