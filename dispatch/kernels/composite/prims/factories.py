"""The `prims` that make tensors out of sizes and numbers, and those that answer with a number.

They are factories of `aten` with every choice spelled out: dtype, device, requires_grad.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "device_put",
    "empty",
    "empty_permuted",
    "empty_strided",
    "full",
    "full_like",
    "iota",
    "item",
    "make_token",
    "maximum_value",
    "minimum_value",
    "normal",
    "scalar_tensor",
    "sink_tokens",
    "uniform",
]

Ints = Sequence[int]
_aten = ops.aten


def _made(tensor: Tensor, requires_grad: bool) -> Tensor:
    return tensor.requires_grad_() if requires_grad else tensor


def empty(
    shape: Ints, *, dtype: dtypes.dtype, device: dtypes.device, requires_grad: bool
) -> Tensor:
    """Not initialised."""
    return _made(_aten.empty.memory_format(shape, dtype=dtype, device=device), requires_grad)


def empty_permuted(
    shape: Ints,
    physical_layout: Ints,
    *,
    dtype: dtypes.dtype,
    device: dtypes.device,
    requires_grad: bool,
) -> Tensor:
    """Not initialised; `physical_layout` names dimensions from the outermost in memory."""
    made = _aten.empty_permuted(shape, physical_layout, dtype=dtype, device=device)
    return _made(made, requires_grad)


def empty_strided(
    shape: Ints,
    strides: Ints,
    *,
    dtype: dtypes.dtype,
    device: dtypes.device,
    requires_grad: bool,
) -> Tensor:
    """Not initialised, with these strides."""
    made = _aten.empty_strided(shape, strides, dtype=dtype, device=device)
    return _made(made, requires_grad)


def full(
    shape: Ints,
    fill_value: Any,
    *,
    dtype: dtypes.dtype,
    device: dtypes.device,
    requires_grad: bool,
) -> Tensor:
    """Full of one number."""
    return _made(_aten.full(shape, fill_value, dtype=dtype, device=device), requires_grad)


def full_like(
    a: Tensor,
    fill_value: Any,
    *,
    dtype: dtypes.dtype,
    device: dtypes.device,
    requires_grad: bool,
) -> Tensor:
    """Full of one number, with the sizes of `a`."""
    return _made(_aten.full_like(a, fill_value, dtype=dtype, device=device), requires_grad)


def iota(
    length: int,
    *,
    start: int,
    step: int,
    dtype: dtypes.dtype,
    device: dtypes.device,
    requires_grad: bool,
) -> Tensor:
    """start, start + step, ..."""
    if dtype.is_floating_point or dtype.is_complex or dtype is dtypes.bool:
        raise refused(f"expected an integer dtype, got {dtype}")
    if step == 0:
        raise refused("expected a step other than 0")
    end = start + length * step
    made = _aten.arange.start_step(start, end, step, dtype=dtype, device=device)
    return _made(made, requires_grad)


def scalar_tensor(
    s: Any, *, dtype: dtypes.dtype | None = None, device: dtypes.device | None = None
) -> Tensor:
    """A number as a tensor."""
    if isinstance(s, complex) and dtype is not None and not dtype.is_complex:
        raise refused(f"a complex number does not fit {dtype}", TypeError)
    return _aten.scalar_tensor(s, dtype=dtype, device=device)


def normal(
    shape: Ints,
    *,
    mean: Any,
    std: Any,
    dtype: dtypes.dtype,
    device: dtypes.device,
    requires_grad: bool,
    generator: Any = None,
) -> Tensor:
    """Drawn from a normal distribution."""
    if std < 0:
        raise refused(f"expected a standard deviation of 0 or more, got {std}")
    if not (dtype.is_floating_point or dtype.is_complex):
        raise refused(f"expected a floating or complex dtype, got {dtype}")
    made = _aten.empty.memory_format(shape, dtype=dtype, device=device)
    return _made(_aten.normal_(made, mean, std, generator=generator), requires_grad)


def uniform(
    shape: Ints,
    *,
    low: Any,
    high: Any,
    dtype: dtypes.dtype,
    device: dtypes.device,
    stride: Ints,
    generator: Any = None,
) -> Tensor:
    """Drawn evenly from `low` to `high`."""
    made = _aten.empty_strided(shape, stride, dtype=dtype, device=device)
    return _aten.uniform_(made, low, high, generator=generator)


def make_token() -> Tensor:
    """An empty tensor that stands for an effect."""
    return _aten.empty.memory_format([0])


def sink_tokens(tokens: Sequence[Tensor]) -> None:
    """Where tokens end."""


def device_put(a: Tensor, device: dtypes.device, non_blocking: bool = False) -> Tensor:
    """`a` on a device."""
    return _aten.to.device(a, device, a.dtype, non_blocking)


def item(a: Tensor) -> Any:
    """The only element as a number."""
    return _aten.item(a)


def maximum_value(dtype: dtypes.dtype) -> Any:
    """The largest finite number."""
    return True if dtype is dtypes.bool else _limits(dtype).max


def minimum_value(dtype: dtypes.dtype) -> Any:
    """The least finite number."""
    return False if dtype is dtypes.bool else _limits(dtype).min


def _limits(kind: dtypes.dtype) -> Any:
    is_float = kind.is_floating_point or kind.is_complex
    return dtypes.finfo(kind) if is_float else dtypes.iinfo(kind)
