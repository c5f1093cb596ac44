"""Bodies of softmax and log_softmax on the CPU, over numpy.

Called by the structured kernels with an output of the right size and dtype. The largest value of a
row is taken off before the exponential, so that nothing overflows; a row of -inf gives NaN, as
PyTorch's does. 16-bit floats are computed in float32 and rounded once.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.dtypes import bfloat16, float16, float32, float64
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view

__all__ = ["log_softmax", "softmax", "softmax_in_place"]

_FLOATS = (float16, bfloat16, float32, float64)


def _refuse_half(op: str, half_to_float: bool) -> None:
    if half_to_float:
        raise RuntimeError(f"aten::{op}: half_to_float=True is not supported on CPU")


def _less_largest(values: Array, out: Array | None, axis: int) -> Array:
    largest = np.maximum.reduce(values, axis=axis, keepdims=True)
    return np.subtract(values, largest, out=out)


def softmax_in_place(values: Array, axis: int = -1) -> None:
    """Softmax of floating-point values that are the caller's own."""
    _less_largest(values, values, axis)
    np.exp(values, out=values)
    values /= np.add.reduce(values, axis=axis, keepdims=True)


def _rows(self: Tensor) -> Array:
    values = compute(self)
    return values.reshape(1) if values.ndim == 0 else values


def _own(out: Tensor, values: Array) -> Array | None:
    """The output's memory where the computation can happen in it."""
    target = view(out)
    return target if target.dtype == values.dtype and target.shape == values.shape else None


def softmax(out: Tensor, self: Tensor, dim: int, half_to_float: bool) -> None:
    """exp(x) / sum(exp(x)) along `dim`."""
    _refuse_half("_softmax", half_to_float)
    if self.numel() == 0:
        return
    check_dtype("_softmax", self.dtype, _FLOATS)
    with quiet():
        values = _rows(self)
        result = _less_largest(values, _own(out, values), dim)
        np.exp(result, out=result)
        result /= np.add.reduce(result, axis=dim, keepdims=True)
    _finish(out, result)


def log_softmax(out: Tensor, self: Tensor, dim: int, half_to_float: bool) -> None:
    """x - log(sum(exp(x))) along `dim`."""
    _refuse_half("_log_softmax", half_to_float)
    if self.numel() == 0:
        return
    check_dtype("_log_softmax", self.dtype, _FLOATS)
    with quiet():
        values = _rows(self)
        result = _less_largest(values, _own(out, values), dim)
        result -= np.log(np.add.reduce(np.exp(result), axis=dim, keepdims=True))
    _finish(out, result)


def _finish(out: Tensor, result: Array) -> None:
    """Nothing to write where the output's memory was computed in."""
    if not np.may_share_memory(view(out), result):
        store(out, result.reshape(out.shape))
