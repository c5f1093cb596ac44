"""Operators written with operators: they run wherever those do, fake tensors included."""

from dispatch import Tensor, ops


def macd(self: Tensor, fast: float = 0.5, slow: float = 0.9) -> Tensor:
    """The fast average minus the slow one."""
    return ops.aten.sub.Tensor(
        ops.smoothing.ema.default(self, fast), ops.smoothing.ema.default(self, slow)
    )
