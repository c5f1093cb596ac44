"""Special functions written with other operators: ndtr, mvlgamma, polygamma in place."""

from __future__ import annotations

import math
from typing import Any

from dispatch._C.dtypes import bool as bool_dtype, can_cast, get_default_dtype
from dispatch._C.errors import refused
from dispatch._C.structured import check_placed
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = ["mvlgamma", "mvlgamma_", "mvlgamma_out", "ndtr", "ndtr_out", "polygamma_"]

_aten = ops.aten


def ndtr(self: Any) -> Any:
    """The distribution function of a standard normal number."""
    scaled = _aten.mul.Scalar(self, math.sqrt(0.5))
    return _aten.mul.Scalar(_aten.add.Scalar(_aten.erf(scaled), 1), 0.5)


def ndtr_out(self: Any, *, out: Any) -> Any:
    """`ndtr` into `out`."""
    return _put(ndtr(self), out)


def _put(made: Any, out: Any) -> Any:
    if not can_cast(made.dtype, out.dtype):
        raise refused(f"expected out to be {made.dtype} or wider, got {out.dtype}")
    check_placed(made, out)
    return _aten.copy_(resize_out(out, made.shape), made)


def mvlgamma(self: Any, p: int) -> Any:
    """The sum of lgamma(self - i / 2) for i below `p`, and a constant."""
    if rules.is_eager(self):  # PyTorch checks neither without data
        if self.dtype is bool_dtype:
            raise refused("expected numbers in self, got a bool tensor")
        if p < 1:
            raise refused(f"p has to be greater than or equal to 1, got {p}")
    floating = self.dtype.is_floating_point or self.dtype.is_complex
    kind = self.dtype if floating else get_default_dtype()
    steps = _aten.arange.start_step(0.5 - p / 2, 0.5, 0.5, dtype=kind, device=self.device)
    terms = _aten.lgamma(_aten.add.Tensor(steps, _aten.unsqueeze(self, -1)))
    return _aten.add_.Scalar(
        _aten.sum.dim_IntList(terms, [-1]), p * (p - 1) * math.log(math.pi) / 4
    )


def mvlgamma_(self: Any, p: int) -> Any:
    """`mvlgamma` in place."""
    made = mvlgamma(self, p)
    if not can_cast(made.dtype, self.dtype):
        raise refused(f"expected a floating-point self, got {self.dtype}")
    return _aten.copy_(self, made)


def mvlgamma_out(self: Any, p: int, *, out: Any) -> Any:
    """`mvlgamma` into `out`."""
    return _put(mvlgamma(self, p), out)


def polygamma_(self: Any, n: int) -> Any:
    """`polygamma` in place."""
    return _aten.polygamma.out(n, self, out=self)
