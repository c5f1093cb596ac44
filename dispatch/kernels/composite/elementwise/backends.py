"""What stands for isinf and two gradients on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._ops import ops

__all__ = ["isinf", "mish_backward", "silu_backward"]

_aten = ops.aten


def isinf(self: Any) -> Any:
    """Whether an element, or a part of it, is infinite."""
    if self.is_complex():
        parts = _aten.view_as_real(self)
        return _aten.logical_or(
            _aten.isinf(_aten.select(parts, -1, 0)), _aten.isinf(_aten.select(parts, -1, 1))
        )
    if not self.is_floating_point():
        return _aten.zeros_like(self, dtype=dtypes.bool)
    return _aten.eq(_aten.abs(self), float("inf"))


def mish_backward(grad_output: Any, self: Any) -> Any:
    """The gradient of x * tanh(softplus(x))."""
    soft, steep = _aten.tanh(_aten.softplus(self)), _aten.sigmoid(self)
    return grad_output * (soft + self * steep * (1 - soft * soft))


def silu_backward(grad_output: Any, self: Any) -> Any:
    """The gradient of x * sigmoid(x)."""
    steep = _aten.sigmoid(self)
    return grad_output * (steep * (1 + self * (1 - steep)))
