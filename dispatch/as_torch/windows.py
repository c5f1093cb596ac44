"""`torch.signal.windows`: windows of `M` points, symmetric or one period of a longer one.

Most are sums of cosines (`general_cosine`). All are written with operators, so that fake tensors
and devices of others have them too. Without points a window is empty, one point is 1.

Every function takes `sym` (False: a period), `dtype` (float32 or float64), `layout`, `device` and
`requires_grad` by keyword; ValueError for a negative `M`, other dtypes and layouts.
"""

import math
from collections.abc import Iterable
from typing import Any

import dispatch
from dispatch import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


class _Points:
    """Where a window is evaluated: `M` points in even steps, and the window of less than two."""

    def __init__(
        self,
        name: str,
        M: Any,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = dispatch.strided,
        device: Any = None,
        requires_grad: bool = False,
    ) -> None:
        dtype = dispatch.get_default_dtype() if dtype is None else dtype
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not dispatch.strided:
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        if dtype not in (dispatch.float32, dispatch.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        self.M = M
        self.steps = M if M > 1 and not sym else M - 1
        self.options = {
            "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad
        }  # fmt: skip

    @property
    def none(self) -> Tensor | None:
        """The window without points."""
        return dispatch.empty((0,), **self.options) if self.M == 0 else None

    @property
    def few(self) -> Tensor | None:
        """The window where there are no two points."""
        return dispatch.ones((1,), **self.options) if self.M == 1 else self.none

    def between(self, first: int, last: float) -> Tensor:
        """From `first` on; the last one is `last` where the window is symmetric."""
        step = (last - first) / self.steps
        return dispatch.linspace(first, first + (self.M - 1) * step, self.M, **self.options)

    def after(self, first: float, step: float) -> Tensor:
        """Steps of `step`, of which `first` have been made."""
        return dispatch.linspace(
            first * step, (first + self.M - 1) * step, self.M, **self.options
        )

    def around(self, center: float | None, step: float) -> Tensor:
        """Steps of `step` that are 0 at the point `center`, by default in the middle."""
        return self.after(-(self.steps / 2 if center is None else center), step)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, **options: Any) -> Tensor:
    """exp(-|n - center| / tau); a symmetric one has its center in the middle."""
    points = _Points("exponential", M, **options)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if options.get("sym", True) and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    none = points.none
    return dispatch.exp(-dispatch.abs(points.around(center, 1 / tau))) if none is None else none


def cosine(M: int, **options: Any) -> Tensor:
    """A half wave: sin(pi * (n + 1/2) / M)."""
    points = _Points("cosine", M, **options)
    none = points.none
    if none is not None:
        return none
    return dispatch.sin(points.after(0.5, math.pi / (points.steps + 1)))


def gaussian(M: int, *, std: float = 1.0, **options: Any) -> Tensor:
    """exp(-(n / std) ** 2 / 2), with n counted from the middle."""
    points = _Points("gaussian", M, **options)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    none = points.none
    if none is not None:
        return none
    return dispatch.exp(-(points.around(None, 1 / (std * math.sqrt(2))) ** 2))


def kaiser(M: int, *, beta: float = 12.0, **options: Any) -> Tensor:
    """i0(sqrt(beta ** 2 - x ** 2)) / i0(beta), for x from -beta to beta."""
    points = _Points("kaiser", M, **options)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    few = points.few
    if few is not None:
        return few
    options = points.options
    height = dispatch.tensor(beta, dtype=options["dtype"], device=options["device"])
    first, step = -height, 2.0 * height / points.steps
    last = dispatch.minimum(height, first + (M - 1) * step)
    x = dispatch.linspace(first, last, M, **options)
    return dispatch.i0(dispatch.sqrt(height * height - x**2)) / dispatch.i0(height)


def bartlett(M: int, **options: Any) -> Tensor:
    """A triangle: 1 - |x|, for x from -1 to 1."""
    points = _Points("bartlett", M, **options)
    few = points.few
    return 1 - dispatch.abs(points.between(-1, 1.0)) if few is None else few


def general_cosine(M: int, *, a: Iterable[float], **options: Any) -> Tensor:
    """The sum of (-1) ** i * a[i] * cos(i * x), for x from 0 to 2 pi."""
    return _cosines("general_cosine", M, a, options)


def _cosines(name: str, M: int, a: Any, options: dict[str, Any]) -> Tensor:
    points = _Points(name, M, **options)
    few = points.few
    if few is not None:
        return few
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    signed = [(-1) ** i * value for i, value in enumerate(a)]
    if not signed:
        raise ValueError("Coefficients cannot be empty")
    like = {name: points.options[name] for name in ("dtype", "device", "requires_grad")}
    k = points.between(0, 2 * math.pi)
    weights = dispatch.tensor(signed, **like)
    i = dispatch.arange(len(signed), **like)
    return (weights.unsqueeze(-1) * dispatch.cos(i.unsqueeze(-1) * k)).sum(0)


def general_hamming(M: int, *, alpha: float = 0.54, **options: Any) -> Tensor:
    """alpha - (1 - alpha) * cos(x), for x from 0 to 2 pi."""
    return _cosines("general_cosine", M, [alpha, 1.0 - alpha], options)


def hamming(M: int, **options: Any) -> Tensor:
    """`general_hamming` of 0.54."""
    return general_hamming(M, **options)


def hann(M: int, **options: Any) -> Tensor:
    """`general_hamming` of 1/2."""
    return general_hamming(M, alpha=0.5, **options)


def blackman(M: int, **options: Any) -> Tensor:
    """Three cosines: 0.42, 0.5, 0.08."""
    return _cosines("blackman", M, [0.42, 0.5, 0.08], options)


def nuttall(M: int, **options: Any) -> Tensor:
    """Four cosines whose side lobes are low."""
    return _cosines("general_cosine", M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], options)
