"""Smoothing along the last dimension, as operators. Importing the package makes them known."""

from dispatch import ops
from smoothing.generated import operators as _operators  # noqa: F401 (registers)

__all__ = ["blend", "ema", "macd", "windows"]

blend = ops.smoothing.blend
ema = ops.smoothing.ema
macd = ops.smoothing.macd
windows = ops.smoothing.windows
