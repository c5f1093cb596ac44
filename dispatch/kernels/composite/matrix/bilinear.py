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
    if len(first) != len(second):
        raise refused(f"input dimensions do not match: got {len(first)} and {len(second)}")
    for i, (n, m) in enumerate(zip(first[:-1], second[:-1], strict=True)):
        if n != m:
            raise refused(f"input batch dimensions do not match at dim {i}: got {n} and {m}")
    for i, given in enumerate((first, second), 1):
        if given[-1] != weight.size(i):
            raise refused(
                f"input{i} size does not match weight size: got {given[-1]} but expected "
                f"{weight.size(i)}"
            )
    if bias is not None and bias.size(0) != weight.size(0):
        raise refused(f"bias of shape {list(bias.shape)} does not fit {weight.size(0)} forms")
    flat = [_aten.reshape(t, [-1, t.size(-1)]) for t in (input1, input2)]
    forms = _aten._trilinear(flat[0], weight, flat[1], [1, 3], [0], [1, 2], [2, 3])
    out = _aten.reshape(forms, [*first[:-1], weight.size(0)])
    return out if bias is None else _aten.add.Tensor(out, bias)
