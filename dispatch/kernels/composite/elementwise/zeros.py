"""Sums and products with zeros that take no memory (`_efficientzerotensor`), at the key ZeroTensor.

What is zero for certain is made without memory again; a sum with them is a copy of the other
operand. An operand may be a number. Source of the semantics: PyTorch's ZeroTensor kernels.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import get_default_dtype
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["add", "div", "linalg_cross", "mul", "sub"]

_aten = ops.aten


def _is_zero(operand: Any) -> bool:
    return isinstance(operand, Tensor) and operand._is_zerotensor()


def _sizes(self: Any, other: Any) -> list[int]:
    shapes = [list(t.shape) if isinstance(t, Tensor) else [] for t in (self, other)]
    return list(rules.broadcast_shapes(*shapes))


def _zeros(self: Any, other: Any, dtype: Any = None) -> Tensor:
    """Of the sizes and dtype that a result has."""
    like = self if isinstance(self, Tensor) else other
    kind = dtype or rules.result_type(self, other)
    return _aten._efficientzerotensor(_sizes(self, other), dtype=kind, device=like.device)


def _copied(self: Any, other: Any, kept: Any) -> Tensor:
    """The operand `kept` in the sizes and dtype of the result."""
    if not isinstance(kept, Tensor):
        kept = _aten.scalar_tensor(kept, device=(other if kept is self else self).device)
    copy = _aten._to_copy(kept, dtype=rules.result_type(self, other))
    sizes = _sizes(self, other)
    return copy if list(copy.shape) == sizes else _aten.clone(_aten.expand(copy, sizes))


def _sum(self: Any, other: Any, alpha: Any) -> Tensor:
    if not _is_zero(self):
        return _copied(self, other, self)
    if _is_zero(other):
        return _zeros(self, other)
    return _aten.mul(_copied(self, other, other), alpha)


def add(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """The operand that is not zero, `other` times alpha."""
    return _sum(self, other, alpha)


def sub(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """The same with `other` taken away."""
    return _sum(self, other, -alpha)


def mul(self: Any, other: Any) -> Tensor:
    """Zeros."""
    return _zeros(self, other)


def div(self: Any, other: Any) -> Tensor:
    """Zeros; by zeros, what IEEE 754 says."""
    if not _is_zero(other):
        kind = rules.result_type(self, other)
        exact = kind.is_floating_point or kind.is_complex
        return _zeros(self, other, None if exact else get_default_dtype())
    return _aten.div(_aten.clone(self) if _is_zero(self) else self, _aten.clone(other))


def linalg_cross(self: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Zeros."""
    return _zeros(self, other)
