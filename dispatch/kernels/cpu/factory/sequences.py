"""CPU kernels of sequences of numbers and index pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import quiet, store, view
from dispatch.kernels.meta.factory import sequences as meta

__all__ = [
    "eye_m_out",
    "eye_out",
    "linspace_out",
    "logspace_out",
    "range_out",
    "tril_indices",
    "triu_indices",
]


def eye_out(n: int, *, out: Tensor) -> Tensor:
    """Ones on the diagonal of a square matrix."""
    return eye_m_out(n, n, out=out)


def eye_m_out(n: int, m: int, *, out: Tensor) -> Tensor:
    """Ones on the diagonal of an n by m matrix."""
    meta.eye_m_out(n, m, out=out)
    ops.aten.zero_(out)
    ops.aten.fill_.Scalar(ops.aten.diagonal(out), 1)
    return out


def _steps(start: Any, end: Any, steps: int, kind: dtypes.dtype) -> Any:
    """Numbers at equal distances: the first half counted from the start, the rest from the end."""
    if kind is dtypes.bool:
        raise refused(f"no CPU kernel for {kind}", NotImplementedError)
    wide = np.complex128 if kind.is_complex else np.float64
    if not kind.is_floating_point and not kind.is_complex:
        start, end = int(start), int(end)
    first: Any = wide(start)
    last: Any = wide(end)
    if kind is dtypes.float32:
        first, last = np.float32(first), np.float32(last)
    elif kind is dtypes.complex64:
        first, last = np.complex64(first), np.complex64(last)
    if steps == 1:
        return np.array([first])
    step = (last - first) / type(first)(steps - 1)
    count = np.arange(steps)
    low = first + step * count.astype(type(first))
    high = last - step * (steps - 1 - count).astype(type(first))
    return np.where(count < steps // 2, low, high)


def linspace_out(start: Any, end: Any, steps: int, *, out: Tensor) -> Tensor:
    """`steps` numbers from start to end."""
    meta.linspace_out(start, end, steps, out=out)
    if steps:
        with quiet():
            store(out, _steps(start, end, steps, out.dtype).reshape(view(out).shape))
    return out


def logspace_out(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor) -> Tensor:
    """Powers of `base`."""
    meta.logspace_out(start, end, steps, base, out=out)
    if steps:
        with quiet():
            exponents = _steps(start, end, steps, out.dtype)
            wide = np.complex128 if out.dtype.is_complex else np.float64
            store(out, np.power(wide(base), exponents.astype(wide)).reshape(view(out).shape))
    return out


def range_out(start: Any, end: Any, step: Any = 1, *, out: Tensor) -> Tensor:
    """Numbers from start to end, which is included."""
    meta.range_out(start, end, step, out=out)
    store(out, (start + np.arange(out.numel()) * step).reshape(view(out).shape))
    return out


def _pairs(row: int, col: int, offset: int, lower: bool, options: dict[str, Any]) -> Tensor:
    kind = options.get("dtype") or dtypes.int64
    count = meta.count_triangle(row, col, offset, lower)
    if kind not in (dtypes.int16, dtypes.int32, dtypes.int64):
        raise refused(f"no CPU kernel for {kind}", NotImplementedError)
    out = ops.aten.empty([2, count], **{**options, "dtype": kind})
    if count:
        store(out, _places(row, col, min(max(offset, -row), col), lower))
    return out


def _places(row: int, col: int, offset: int, lower: bool) -> Any:
    """Rows and columns on one side of a diagonal: only rows that have any are looked at."""
    rows = np.arange(max(-offset, 0), row) if lower else np.arange(min(row, col - offset))
    first = np.zeros_like(rows) if lower else np.maximum(rows + offset, 0)
    counts = (np.minimum(rows + offset + 1, col) if lower else col) - first
    before = np.cumsum(counts) - counts
    columns = np.arange(before[-1] + counts[-1]) - np.repeat(before - first, counts)
    return np.stack([np.repeat(rows, counts), columns])


def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """Rows and columns of the lower triangle."""
    return _pairs(row, col, offset, True, options)


def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """Rows and columns of the upper triangle."""
    return _pairs(row, col, offset, False, options)
