"""Bodies of softmax and log_softmax on the CPU, over numpy.

Called by the structured kernels with an output of the right size and dtype. The largest value of a
row is taken off before the exponential, so that nothing overflows; a row of -inf gives NaN, as
PyTorch's does. 16-bit floats are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view

__all__ = ["log_softmax", "row_sums", "softmax"]

_BLOCK = 1 << 17  # elements that are taken through all steps at a time, at least one row


def _refuse_half(half_to_float: bool) -> None:
    if half_to_float:
        raise refused("half_to_float=True is not supported on CPU")


def row_sums(rows: Array) -> Array:
    """Sums over the last dimension, kept; BLAS is faster at it than a reduction."""
    return np.matmul(rows, np.ones(rows.shape[-1], rows.dtype))[..., None]


def _less_largest(values: Array, out: Array | None, axis: int) -> Array:
    largest = np.maximum.reduce(values, axis=axis, keepdims=True)
    return np.subtract(values, largest, out=out)


def _softmax(values: Array, out: Array | None, axis: int) -> Array:
    result = _less_largest(values, out, axis)
    np.exp(result, out=result)
    result /= np.add.reduce(result, axis=axis, keepdims=True)
    return result


def _log_softmax(values: Array, out: Array | None, axis: int) -> Array:
    result = _less_largest(values, out, axis)
    result -= np.log(np.add.reduce(np.exp(result), axis=axis, keepdims=True))
    return result


def _softmax_of_rows(rows: Array, out: Array) -> None:
    _less_largest(rows, out, 1)
    np.exp(out, out=out)
    out /= row_sums(out)


def _log_softmax_of_rows(rows: Array, out: Array) -> None:
    _less_largest(rows, out, 1)
    out -= np.log(row_sums(np.exp(out)))


def _by_rows(of_rows: Callable[[Array, Array], None], values: Array, out: Array) -> None:
    """The last dimension, contiguous, in blocks of rows that stay in a cache meanwhile."""
    width = values.shape[-1]
    rows, target = values.reshape(-1, width), out.reshape(-1, width)
    step = max(1, _BLOCK // width)
    for start in range(0, len(rows), step):
        of_rows(rows[start : start + step], target[start : start + step])


def _apply(
    out: Tensor,
    self: Tensor,
    dim: int,
    whole: Callable[[Array, Array | None, int], Array],
    of_rows: Callable[[Array, Array], None],
) -> None:
    values, target = compute(self), view(out)
    if values.ndim == 0:
        values, target = values.reshape(1), target.reshape(1)
    direct = target.dtype == values.dtype
    with quiet():
        packed = values.flags.c_contiguous and target.flags.c_contiguous
        if direct and packed and dim in (-1, values.ndim - 1):
            _by_rows(of_rows, values, target)
            return
        result = whole(values, target if direct else None, dim)
    if not direct:
        store(out, result.reshape(out.shape))


def softmax(out: Tensor, self: Tensor, dim: int, half_to_float: bool) -> None:
    """exp(x) / sum(exp(x)) along `dim`."""
    _refuse_half(half_to_float)
    if self.numel():
        check_dtype(self.dtype, FLOATING)
        _apply(out, self, dim, _softmax, _softmax_of_rows)


def log_softmax(out: Tensor, self: Tensor, dim: int, half_to_float: bool) -> None:
    """x - log(sum(exp(x))) along `dim`."""
    _refuse_half(half_to_float)
    if self.numel():
        check_dtype(self.dtype, FLOATING)
        _apply(out, self, dim, _log_softmax, _log_softmax_of_rows)
