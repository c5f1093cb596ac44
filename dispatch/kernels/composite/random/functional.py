"""The random operators that return a tensor, for functionalization in place of those that fill one.

A tensor with self's geometry is made and filled in place by the operator of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "normal_functional",
    "philox_normal",
    "philox_uniform",
    "random",
    "random_from",
    "random_to",
    "rrelu_with_noise_functional",
    "uniform",
]

_aten = ops.aten


def _filled(name: str, overload: str = "default") -> Callable[..., Tensor]:
    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        op = getattr(getattr(_aten, name), overload)
        return op(_aten.empty_like(self), *args, **kwargs)

    kernel.__name__ = kernel.__qualname__ = name.rstrip("_")
    return kernel


cauchy = _filled("cauchy_")
exponential = _filled("exponential_")
geometric = _filled("geometric_")
log_normal = _filled("log_normal_")
normal_functional = _filled("normal_")
philox_normal = _filled("_philox_normal_")
philox_uniform = _filled("_philox_uniform_")
random = _filled("random_")
random_from = _filled("random_", "from")
random_to = _filled("random_", "to")


def uniform(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Uniform numbers; without data PyTorch keeps self's very strides."""
    if rules.is_eager(self):
        made = _aten.empty_like(self)
    else:
        made = _aten.new_empty_strided(self, list(self.shape), list(self.stride()))
    return _aten.uniform_(made, *args, **kwargs)


def rrelu_with_noise_functional(self: Tensor, noise: Tensor, *args: Any) -> tuple[Tensor, Tensor]:
    """`rrelu_with_noise_` of copies of self and of `noise`."""
    drawn = _aten.clone(noise)
    return _aten.rrelu_with_noise_(_aten.clone(self), drawn, *args), drawn
