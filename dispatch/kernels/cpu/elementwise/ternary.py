"""CPU bodies of elementwise operators of three operands: clamp, where, addcmul, addcdiv.

Called by the structured kernels with an output of the right sizes; a bound that is not given is
None. A NaN in any operand of clamp is the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import (
    BOOL,
    COMPLEX,
    FLOATING_AND_COMPLEX,
    INTEGRAL_AND_FLOATING,
)
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import bits, check_dtype, quiet, store, view
from dispatch.kernels.cpu.elementwise.driver import Function, descr_of, number, operand, read, run
from dispatch.kernels.meta import rules

__all__ = [
    "addcdiv",
    "addcmul",
    "clamp",
    "clamp_by",
    "clamp_in",
    "clamp_max",
    "clamp_max_tensor",
    "clamp_min",
    "clamp_min_tensor",
    "clamp_tensor",
    "lerp",
    "where",
]

_ORDERED = BOOL | INTEGRAL_AND_FLOATING


# ---- clamp -------------------------------------------------------------------------------------


def _bounded(low: Any, high: Any) -> Function:
    """maximum with `low`, then minimum with `high`."""
    if high is None:
        return lambda x, **into: np.maximum(x, low, **into)
    if low is None:
        return lambda x, **into: np.minimum(x, high, **into)
    return lambda x, **into: np.minimum(np.maximum(x, low), high, **into)


def clamp(out: Tensor, self: Tensor, min: Any, max: Any) -> None:
    """Numbers as bounds."""
    if self.dtype.is_floating_point and (isinstance(min, complex) or isinstance(max, complex)):
        raise refused("min and max must be real numbers")
    clamp_by(out, self, min, max)


def clamp_by(out: Tensor, self: Tensor, min: Any, max: Any) -> None:
    """Computed in the dtype that the tensor and its bounds have in common."""
    bounds = [bound for bound in (min, max) if bound is not None]
    clamp_in(rules.result_type(self, *bounds), out, self, min, max)


def clamp_in(kind: dtype, out: Tensor, self: Tensor, min: Any, max: Any) -> None:
    """Computed in a given dtype; NaN if a bound is."""
    check_dtype(kind, INTEGRAL_AND_FLOATING)
    if any(isinstance(bound, float) and math.isnan(bound) for bound in (min, max)):
        view(out).fill(math.nan)
        return
    low, high = (None if b is None else number(b, kind) for b in (min, max))
    run(_bounded(low, high), INTEGRAL_AND_FLOATING, out, kind, self)


def clamp_min(out: Tensor, self: Tensor, min: Any) -> None:
    """Not below a number."""
    clamp_by(out, self, min, None)


def clamp_max(out: Tensor, self: Tensor, max: Any) -> None:
    """Not above a number."""
    clamp_by(out, self, None, max)


def clamp_tensor(out: Tensor, self: Tensor, min: Tensor | None, max: Tensor | None) -> None:
    """Tensors as bounds."""
    bounds = [bound for bound in (min, max) if bound is not None]
    kind = rules.result_type(self, *bounds)
    if len(bounds) == 2:
        run(np.clip, INTEGRAL_AND_FLOATING, out, kind, self, *bounds)
    else:
        run(np.minimum if min is None else np.maximum, _ORDERED, out, kind, self, *bounds)


def clamp_min_tensor(out: Tensor, self: Tensor, min: Tensor) -> None:
    """Not below another tensor."""
    clamp_tensor(out, self, min, None)


def clamp_max_tensor(out: Tensor, self: Tensor, max: Tensor) -> None:
    """Not above another tensor."""
    clamp_tensor(out, self, None, max)


# ---- where -------------------------------------------------------------------------------------


def where(out: Tensor, condition: Tensor, self: Tensor, other: Tensor) -> None:
    """Elements of self or other; plain bits if no dtype is converted."""
    chosen = view(condition).astype(np.bool_, copy=False)
    if self.dtype is other.dtype is out.dtype:
        np.copyto(bits(out), np.where(chosen, bits(self), bits(other)))
        return
    kind = rules.result_type(self, other)
    with quiet():
        values = (_converted(self, kind), _converted(other, kind))
        store(out, np.where(chosen, *values))


def _converted(tensor: Tensor, kind: dtype) -> Any:
    return read(tensor).astype(descr_of(kind), copy=False)


# ---- products and quotients added --------------------------------------------------------------


def _combine(
    function: Function, allowed: Any, out: Tensor, tensors: tuple[Tensor, ...], value: Any
) -> None:
    """self + function(value * tensor1, tensor2), rounded once."""
    kind = rules.result_type(*tensors)
    check_dtype(kind, allowed)
    factor = number(value, kind, wide=True)
    base, first, second = (operand(tensor, kind) for tensor in tensors)
    with quiet():
        if value != 1 or kind.is_complex:  # times 1 makes NaNs of complex infinities
            first = first * factor
        term = np.asarray(function(first, second))
        result = np.asarray(np.add(base, term, out=term if term.shape == out.shape else None))
        store(out, result.astype(descr_of(kind), copy=False))


def addcmul(out: Tensor, self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> None:
    """self + value * tensor1 * tensor2."""
    _combine(np.multiply, INTEGRAL_AND_FLOATING | COMPLEX, out, (self, tensor1, tensor2), value)


def addcdiv(out: Tensor, self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> None:
    """self + value * tensor1 / tensor2."""
    _combine(np.divide, FLOATING_AND_COMPLEX, out, (self, tensor1, tensor2), value)


# ---- between two -------------------------------------------------------------------------------


def lerp(out: Tensor, self: Tensor, end: Tensor, weight: Any) -> None:
    """self + weight * (end - self), from whichever end is nearer."""
    tensor = isinstance(weight, Tensor)
    kind = rules.result_type(self, end, weight) if tensor else self.dtype
    check_dtype(kind, FLOATING_AND_COMPLEX)
    first, last = (operand(t, kind) for t in (self, end))
    share = operand(weight, kind) if tensor else number(weight, kind, wide=True)
    with quiet():
        step = last - first
        values = np.where(np.abs(share) < 0.5, first + share * step, last - step * (1 - share))
        store(out, values.astype(descr_of(kind), copy=False))
