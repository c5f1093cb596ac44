"""`make_tensor`: tensors of random values for tests (torch.testing.make_tensor)."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import dispatch

__all__ = ["make_tensor"]


def make_tensor(
    *shape: int | Sequence[int],
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of values drawn uniformly from [low, high).

    Args:
        shape: sizes, one by one or as a sequence.
        low, high: by default 0 and 2 (bool), -9 and 10 (integers; 0 and 10 without a sign), -9 and
            9; what the dtype cannot hold is clamped to what it can.
        noncontiguous: every second of twice as many elements in the last dimension.
        exclude_zero: 1 for zeros, the smallest normal number for those of floating dtypes.
        memory_format: not together with `noncontiguous`.

    Raises:
        ValueError: no interval, NaN, or one outside of the dtype's; options that exclude each
            other; gradients of integers.
        TypeError: a dtype whose values are not drawn.
    """
    first: Any = shape[0] if len(shape) == 1 else 0
    sizes: list[Any] = [*first] if isinstance(first, Sequence) else [*shape]
    inexact = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor: noncontiguous and memory_format are mutually exclusive")
    if requires_grad and not inexact:
        raise ValueError(f"make_tensor: requires_grad=True is not supported for {dtype}")
    spread = noncontiguous and math.prod(sizes) > 1
    if spread:
        sizes[-1] *= 2
    result = _drawn(sizes, dtype, device, *_interval(dtype, inexact, low, high))
    if spread:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = dispatch.finfo(dtype).tiny if inexact else 1
    return result.requires_grad_(requires_grad) if inexact else result


def _interval(dtype: Any, inexact: bool, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds, as the dtype can hold them."""
    lowest: float
    highest: float
    if dtype == dispatch.bool:
        defaults, lowest, highest = (0, 2), 0, 2
    elif inexact:
        info = dispatch.finfo(dtype)
        defaults, lowest, highest = (-9, 9), info.min, info.max
    else:
        ints = dispatch.iinfo(dtype)
        defaults, lowest = (-9, 10), ints.min
        highest = ints.max + (dtype != dispatch.int64)
    low, high = (d if v is None else v for v, d in zip((low, high), defaults, strict=True))
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"make_tensor: low and high cannot be NaN, got {low} and {high}")
    if low == high and inexact:
        warnings.warn("make_tensor: low == high is deprecated: use full", FutureWarning, 3)
    elif low >= high:
        raise ValueError(f"make_tensor: low must be less than high, got {low} >= {high}")
    elif high < lowest or low >= highest:
        raise ValueError(
            f"make_tensor: [{low}, {high}) is outside of what {dtype} holds, [{lowest}, {highest})"
        )
    low, high = min(max(low, lowest), highest), min(max(high, lowest), highest)
    return (low, high) if inexact else (math.ceil(low), math.ceil(high))


def _drawn(sizes: Any, dtype: Any, device: Any, low: Any, high: Any) -> Any:
    if not (dtype.is_floating_point or dtype.is_complex):
        return dispatch.randint(low, high, sizes, device=device, dtype=dtype)
    eight = dtype.is_floating_point and dtype.itemsize == 1
    if dtype.itemsize == 1 and not eight:
        raise TypeError(f"make_tensor: values of {dtype} are not drawn")
    result = dispatch.empty(sizes, device=device, dtype=dispatch.float32 if eight else dtype)
    parts = dispatch.view_as_real(result) if dtype.is_complex else result
    _fill(parts, low, high)
    return result.to(dtype) if eight else result


def _fill(t: Any, low: float, high: float) -> None:
    """Draw from an interval whose width may be more than the dtype's largest number."""
    if high - low >= dispatch.finfo(t.dtype).max:
        t.uniform_(low / 2, high / 2).mul_(2)
    else:
        t.uniform_(low, high)
