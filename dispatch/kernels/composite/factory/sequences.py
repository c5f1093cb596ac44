"""Matrices with a diagonal and sequences: memory from `empty`, filled by `out` kernels."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "eye",
    "eye_m",
    "linspace",
    "linspace_out",
    "logspace",
    "logspace_out",
    "randint_like",
    "randint_like_low",
    "range",
    "range_out_",
    "range_step",
    "vander",
]

_aten = ops.aten


def eye(n: int, **options: Any) -> Tensor:
    """Ones on the diagonal of a square matrix."""
    return eye_m(n, n, **options)


def eye_m(n: int, m: int, **options: Any) -> Tensor:
    """Ones on the diagonal of an n by m matrix."""
    sizes = [n, m] if type(n) is type(m) is int and n >= 0 and m >= 0 else [0]
    return _aten.eye.m_out(n, m, out=_aten.empty.memory_format(sizes, **options))


def _check_written(start: Any, end: Any, out: Tensor) -> None:
    """Numbers that are not there are written nowhere."""
    for bound in (start, end):
        if isinstance(bound, Tensor) and bound.is_meta:
            check_placed(bound, out)


def _number(value: Any) -> Any:
    """A Scalar argument, or a tensor without dimensions in its place."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim:
        raise refused(
            f"linspace only supports 0-dimensional start and end tensors, got {list(value.shape)}"
        )
    if not rules.is_eager(value):
        return 0j if value.dtype.is_complex else 0.0  # only the kind of number matters
    return value.item()


def _check_steps(steps: int) -> None:
    if steps < 0:
        raise refused(f"number of steps must be non-negative, got {steps}")


def _kind(name: str, start: Any, end: Any, dtype: Any) -> Any:
    """What the numbers ask for, if they are complex."""
    if not (isinstance(start, complex) or isinstance(end, complex)):
        return dtype
    needed = (
        dtypes.complex64 if dtypes.get_default_dtype() is not dtypes.float64 else dtypes.complex128
    )
    if dtype is not None and not dtype.is_complex:
        raise refused(f"torch.{name}(): inferred dtype {needed} can't be cast to {dtype}")
    return needed if dtype is None else dtype


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """`steps` numbers from start to end, at equal distances."""
    _check_steps(steps)
    start, end = (_number(v) for v in (start, end))
    kind = _kind("linspace", start, end, dtype)
    out = _aten.empty.memory_format([steps], dtype=kind, **options)
    return _aten.linspace.out(start, end, steps, out=out)


def linspace_out(start: Any, end: Any, steps: int, *, out: Tensor) -> Tensor:
    """The same into `out`, from tensors."""
    _check_written(start, end, out)
    start, end = (_number(v) for v in (start, end))
    return _aten.linspace.out(start, end, steps, out=out)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Powers of `base` with exponents from start to end, at equal distances."""
    _check_steps(steps)
    start, end = (_number(v) for v in (start, end))
    kind = _kind("logspace", start, end, dtype)
    out = _aten.empty.memory_format([steps], dtype=kind, **options)
    return _aten.logspace.out(start, end, steps, base, out=out)


def logspace_out(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor) -> Tensor:
    """The same into `out`, from tensors."""
    _check_written(start, end, out)
    start, end = (_number(v) for v in (start, end))
    return _aten.logspace.out(start, end, steps, base, out=out)


def range_step(start: Any, end: Any, step: Any = 1, **options: Any) -> Tensor:
    """Numbers from start to end, which is included."""
    return _aten.range.out(start, end, step, out=_aten.empty.memory_format([0], **options))


def range(start: Any, end: Any, **options: Any) -> Tensor:
    """The same with a step of 1."""
    return range_step(start, end, 1, **options)


def range_out_(start: Any, end: Any, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    return _aten.range.out(start, end, 1, out=out)


def _draw(self: Tensor, low: int, high: int, generator: Any, options: dict[str, Any]) -> Tensor:
    if low >= high:
        raise refused(f"low must be less than high, got {low} and {high}")
    made = _aten.empty_like(self, **options)
    chosen = {} if generator is None else {"generator": generator}
    return getattr(_aten.random_, "from")(made, low, high, **chosen)


def randint_like(self: Tensor, high: Any, *, generator: Any = None, **options: Any) -> Tensor:
    """Integers from 0 to `high`, which is left out, with the geometry of self."""
    if isinstance(high, Tensor) and not rules.is_eager(high):  # nobody knows its value
        return _aten.empty_like(self, **options)
    return _draw(self, 0, int(_number(high)), generator, options)


def randint_like_low(
    self: Tensor, low: int, high: int, *, generator: Any = None, **options: Any
) -> Tensor:
    """Integers from `low` to `high`, which is left out, with the geometry of self."""
    return _draw(self, low, high, generator, options)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of a vector's elements, a row for each: the largest first, or the smallest."""
    if x.ndim != 1:
        raise refused(f"x must be a one-dimensional tensor, got {list(x.shape)}")
    length = x.size(0)
    columns = length if N is None else N
    if columns < 0:
        raise refused(f"N must be non-negative, got {columns}")
    kind = _aten.promote_types(x.dtype, dtypes.int64)
    result = _aten.empty.memory_format(
        [length, columns], dtype=kind, layout=x.layout, device=x.device
    )
    if columns > 0:
        _aten.fill_.Scalar(_aten.select.int(result, 1, 0), 1)
    if columns > 1:
        _aten.copy_(_aten.slice.Tensor(result, 1, 1), _aten.unsqueeze(x, 1))
        target = _aten.slice.Tensor(result, 1, 1)
        rest = _aten.slice.Tensor(result, 1, 1)
        _aten.copy_(target, _aten.cumprod(rest, 1))
    return result if increasing else _aten.flip(result, [1])
