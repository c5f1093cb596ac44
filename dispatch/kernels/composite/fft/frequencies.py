"""Sample frequencies of transforms, and rolling the frequency zero to the middle and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "fftfreq",
    "fftfreq_out",
    "fftshift",
    "ifftshift",
    "rfftfreq",
    "rfftfreq_out",
]

_aten = ops.aten


def _check_out(out: Tensor) -> None:
    if not (out.dtype.is_floating_point or out.dtype.is_complex):
        raise refused(f"requires a floating point or complex dtype, got {out.dtype}")


def _step(n: int, d: float) -> float:
    """The distance between two frequencies; as in C, a division by zero is infinite."""
    return 1.0 / (n * d) if n * d else float("inf")


def fftfreq_out(n: int, d: float = 1.0, *, out: Tensor) -> Tensor:
    """Frequencies from zero up, then the negative ones, into `out`."""
    _check_out(out)
    _aten.arange.out(n, out=out)
    middle = (n + 1) // 2
    upper = _aten.slice(out, 0, middle, n)
    _aten.arange.start_out(-(n // 2), 0, 1, out=upper)
    return _aten.mul_.Scalar(out, _step(n, d))


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """The frequencies of the points of a transform of `n` points, `d` apart."""
    return fftfreq_out(n, d, out=_aten.empty.memory_format([n], **options))


def rfftfreq_out(n: int, d: float = 1.0, *, out: Tensor) -> Tensor:
    """Frequencies from zero up into `out`."""
    _check_out(out)
    _aten.arange.out(n // 2 + 1, out=out)
    return _aten.mul_.Scalar(out, _step(n, d))


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """The frequencies of the points of a halved transform."""
    return rfftfreq_out(n, d, out=_aten.empty.memory_format([n // 2 + 1], **options))


def _rolled(self: Tensor, dim: Sequence[int] | None, more: int) -> Tensor:
    dims = range(self.ndim) if dim is None else dim
    wrapped = [rules.wrap_dim(d, self.ndim) for d in dims]
    shifts = [(self.shape[d] + more) // 2 for d in wrapped]
    return _aten.roll(self, shifts, wrapped)


def fftshift(self: Tensor, dim: Sequence[int] | None = None) -> Tensor:
    """Rolled so that the frequency zero is in the middle."""
    return _rolled(self, dim, 0)


def ifftshift(self: Tensor, dim: Sequence[int] | None = None) -> Tensor:
    """Rolled back."""
    return _rolled(self, dim, 1)
