"""Meta kernels of sequences and index pairs: outputs resized, nothing written."""

from __future__ import annotations

import math
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "check_range",
    "count_triangle",
    "eye_m_out",
    "eye_out",
    "linspace_out",
    "logspace_out",
    "range_numbers",
    "range_out",
    "resized",
    "tril_indices",
    "triu_indices",
]


_UNRANGED = (
    dtypes.bool,
    dtypes.uint16,
    dtypes.uint32,
    dtypes.uint64,
    dtypes.float8_e4m3fn,
    dtypes.float8_e4m3fnuz,
    dtypes.float8_e5m2,
    dtypes.float8_e5m2fnuz,
    dtypes.float8_e8m0fnu,
)


def resized(out: Tensor, sizes: list[int]) -> Tensor:
    """`out` with these sizes."""
    if list(out.shape) != sizes:
        ops.aten.resize_(out, sizes)
    return out


def eye_out(n: int, *, out: Tensor) -> Tensor:
    """A square matrix."""
    return eye_m_out(n, n, out=out)


def eye_m_out(n: int, m: int, *, out: Tensor) -> Tensor:
    """A matrix."""
    for name, size in (("n", n), ("m", m)):
        if not rules.holds(size >= 0):
            raise refused(f"{name} must be greater or equal to 0, got {size}")
    return resized(out, [n, m])


def linspace_out(start: Any, end: Any, steps: int, *, out: Tensor) -> Tensor:
    """`steps` numbers."""
    if steps < 0:
        raise refused(f"number of steps must be non-negative, got {steps}")
    return out if out.numel() == steps else resized(out, [steps])


def logspace_out(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor) -> Tensor:
    """`steps` numbers."""
    if steps < 0:
        raise refused(f"number of steps must be non-negative, got {steps}")
    return out if out.numel() == steps else resized(out, [steps])


def range_numbers(start: Any, end: Any, step: Any, kind: dtypes.dtype) -> tuple[Any, Any, Any]:
    """Bounds and step as `range` counts with them: cut to integers for an integral dtype."""
    return (start, end, step) if kind.is_floating_point else (int(start), int(end), int(step))


def check_range(start: Any, end: Any, step: Any, kind: dtypes.dtype) -> int:
    """How many numbers `range` has."""
    if kind in _UNRANGED or kind.is_complex:
        raise refused(f"no kernel for {kind}", NotImplementedError)
    if not (math.isfinite(start) and math.isfinite(end)):
        raise refused(f"expected finite bounds, got {start} and {end}")
    start, end, step = range_numbers(start, end, step, kind)
    if step == 0:
        raise refused("step must not be 0")
    if (step > 0) != (end >= start) and start != end:
        raise refused(f"bounds {start} and {end} do not fit the step {step}")
    return int((end - start) / step + 1)


def range_out(start: Any, end: Any, step: Any = 1, *, out: Tensor) -> Tensor:
    """Numbers from start to end."""
    count = check_range(start, end, step, out.dtype)
    return out if out.numel() == count else resized(out, [count])


def count_triangle(row: int, col: int, offset: int, lower: bool) -> int:
    """How many elements there are on one side of a diagonal."""
    if row < 0 or col < 0:
        raise refused(f"sizes must not be negative, got {row} and {col}")
    below = _count_below(row, col, offset if lower else offset - 1)
    count = below if lower else row * col - below
    if count >> 62:
        raise refused(f"a triangle of {row} by {col} has too many elements")
    return count


def _count_below(row: int, col: int, offset: int) -> int:
    """Elements (i, j) with j <= i + offset: rows that grow by one, then whole rows."""
    first = min(max(-offset, 0), row)
    growing = min(max(col - 1 - offset - first, 0), row - first)
    whole = row - first - growing
    return growing * (first + offset + 1) + growing * (growing - 1) // 2 + whole * col


def _pairs(row: int, col: int, offset: int, lower: bool, options: dict[str, Any]) -> Tensor:
    count = count_triangle(row, col, offset, lower)
    kind = options.get("dtype") or dtypes.int64
    if kind not in (dtypes.int32, dtypes.int64):
        raise refused(f"expected int32 or int64, got {kind}")
    return ops.aten.empty([2, count], **{**options, "dtype": kind})


def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """Rows and columns of the lower triangle."""
    return _pairs(row, col, offset, True, options)


def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """Rows and columns of the upper triangle."""
    return _pairs(row, col, offset, False, options)
