"""Windows: weights that fall off to both sides, written with the operators PyTorch uses.

A periodic window is one that is a point longer, without its last point.
"""

from __future__ import annotations

import math
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.fft.windows import fill_kaiser
from dispatch.kernels.meta import rules

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]

_aten = ops.aten


def _short(window_length: int, options: dict[str, Any]) -> Tensor | None:
    """The window of less than two points, after the checks that all windows make.

    Puts the dtype into `options`: the places in a window are counted in its own.
    """
    kind = options["dtype"] = options.get("dtype") or dtypes.get_default_dtype()
    if not (kind.is_floating_point or kind.is_complex):
        raise refused(f"expected floating point dtypes, got {kind}")
    if window_length < 0:
        raise refused(f"expected window_length of 0 or more, got {window_length}")
    if window_length == 0:
        return _aten.empty.memory_format([0], **options)
    return _aten.ones([1], **options) if window_length == 1 else None


def _cut(window: Tensor, periodic: bool) -> Tensor:
    return _aten.narrow(window, 0, 0, window.shape[0] - 1) if periodic else window


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Up and down in straight lines."""
    short = _short(window_length, options)
    if short is not None:
        return short
    n = window_length + periodic
    window = _aten.mul_.Scalar(_aten.arange(n, **options), 2.0 / (n - 1))
    first = ((n - 1) >> 1) + 1
    _aten.add_.Scalar(_aten.mul_.Scalar(_aten.narrow(window, 0, first, n - first), -1), 2)
    return _cut(window, periodic)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A sum of a number and two cosines."""
    short = _short(window_length, options)
    if short is not None:
        return short
    n = window_length + periodic
    window = _aten.mul_.Scalar(_aten.arange(n, **options), math.pi / (n - 1))
    fast = _aten.mul_.Scalar(_aten.cos_(_aten.mul.Scalar(window, 4)), 0.08)
    slow = _aten.mul_.Scalar(_aten.cos_(_aten.mul.Scalar(window, 2)), 0.5)
    return _cut(_aten.add.Scalar(_aten.sub.Tensor(fast, slow), 0.42), periodic)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Any,
) -> Tensor:
    """`alpha` less `beta` times a cosine."""
    short = _short(window_length, options)
    if short is not None:
        return short
    n = window_length + periodic
    window = _aten.mul_.Scalar(_aten.arange(n, **options), math.pi * 2.0 / (n - 1))
    return _cut(_aten.add_.Scalar(_aten.mul_.Scalar(_aten.cos_(window), -beta), alpha), periodic)


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A raised cosine."""
    return hamming_window(window_length, periodic, 0.5, 0.5, **options)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any
) -> Tensor:
    """Bessel functions of half a circle."""
    short = _short(window_length, options)
    if short is not None:
        return short
    n = window_length + periodic
    window = _aten.arange(n, **options)
    if rules.is_eager(window):
        fill_kaiser(window, n, beta)
    return _cut(window, periodic)
