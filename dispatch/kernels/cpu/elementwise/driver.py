"""How elementwise bodies run: operands converted, one function, the result rounded once.

`run` is what the tables beside this file (`pointwise`, `activation`, `power`, `ternary`) call.
Operands are rounded to the operator's dtype, 16-bit floats are then widened to float32; the
function writes into the output's memory wherever that gives the same result. A function is a ufunc,
or `Steps`, which looks like one and works on blocks that fit the cache. numpy's warnings are off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, is_narrow, quiet, store, view

__all__ = [
    "Function",
    "Steps",
    "check_number",
    "converted",
    "descr_of",
    "number",
    "operand",
    "read",
    "run",
]

Function = Callable[..., Any]


_BLOCK = 1 << 14  # elements; a few arrays of them fit the second-level cache


def descr_of(kind: dtype) -> np.dtype[Any]:
    """numpy's dtype of the same name."""
    descr: np.dtype[Any] = dtypes._numpy_dtype(kind)
    return descr


def operand(tensor: Tensor, kind: dtype) -> Array:
    """A tensor's values rounded to `kind`; its memory where that changes nothing."""
    array = read(tensor)
    if tensor.dtype is not kind and kind is not dtypes.complex32:
        array = array.astype(descr_of(kind))
    return array.astype(np.float32) if is_narrow(kind) and array.dtype != np.float32 else array


def read(tensor: Tensor) -> Array:
    """A tensor's memory; complex32, which numpy has not, as a complex64 copy."""
    if tensor.dtype is not dtypes.complex32:
        return view(tensor)
    from_halves = view(tensor.contiguous().view(dtypes.float16)).astype(np.float32)
    return from_halves.view(np.complex64).reshape(tensor.shape)


def check_number(value: Any, kind: dtype) -> None:
    """c10's checked conversion of a number; RuntimeError. Negative integers fit unsigned dtypes."""
    if isinstance(value, complex) or kind.is_complex or kind is dtypes.bool:
        fits = kind.is_complex or not isinstance(value, complex)
    elif kind.is_floating_point:
        fits = not math.isfinite(value) or abs(value) <= dtypes.finfo(kind).max
    else:
        limits = dtypes.iinfo(kind)
        low = limits.min if isinstance(value, float) or limits.min else -limits.max
        fits = low <= value <= limits.max
    if not fits:
        raise refused(f"{value} does not fit in {kind}")


def number(value: Any, kind: dtype, wide: bool = False) -> Any:
    """A Scalar argument in the dtype of computation; `wide`: not rounded to 16 bits before."""
    check_number(value, kind)
    return np.float32(value) if wide and is_narrow(kind) else converted(value, kind)


def converted(value: Any, kind: dtype) -> Any:
    """A number rounded, or wrapped around, to a dtype, and then in the dtype of computation."""
    with quiet():  # a number beyond float32 is infinite there
        rounded = np.asarray(value).astype(descr_of(kind))
    return rounded.astype(np.float32)[()] if is_narrow(kind) else rounded[()]


def run(
    function: Function,
    allowed: Collection[dtype],
    out: Tensor,
    kind: dtype,
    *tensors: Tensor,
) -> None:
    """`out = function(*tensors)`, computed in `kind`; NotImplementedError if it is not allowed."""
    check_dtype(kind, allowed)
    with quiet():
        arrays = [operand(tensor, kind) for tensor in tensors]
        if out.dtype is kind or not is_narrow(kind):
            function(*arrays, out=view(out), casting="unsafe")
        else:
            store(out, function(*arrays).astype(descr_of(kind)))


class Steps:
    """A function of one array in several ufuncs, to be called like a ufunc.

    `steps(x, r, *numbers)` fills `r`, which is other memory than `x` and has its dtype.
    """

    def __init__(self, steps: Callable[..., None], *numbers: Any) -> None:
        self.steps = steps
        self.numbers = numbers

    def __call__(self, x: Array, out: Array | None = None, casting: str = "unsafe") -> Array:
        if out is None:
            out = np.empty_like(x)
        direct = out.dtype == x.dtype and not np.may_share_memory(x, out)
        if x.size <= _BLOCK:
            self._fill(x, out, None if direct else np.empty(x.shape, x.dtype))
        else:
            self._fill_blocks(*_as_runs(x, out), direct)
        return out

    def _fill(self, x: Array, out: Array, scratch: Array | None) -> None:
        if scratch is None:
            self.steps(x, out, *self.numbers)
        else:
            self.steps(x, scratch, *self.numbers)
            np.copyto(out, scratch, casting="unsafe")

    def _fill_blocks(self, x: Array, out: Array, direct: bool) -> None:
        if x.ndim != 1:
            self._fill(x, out, None if direct else np.empty_like(x))
            return
        scratch = np.empty(_BLOCK, x.dtype)
        for start in range(0, x.size, _BLOCK):
            part = x[start : start + _BLOCK]
            target = out[start : start + _BLOCK]
            self._fill(part, target, None if direct else scratch[: part.size])


def _as_runs(x: Array, out: Array) -> tuple[Array, Array]:
    """Both arrays with one dimension, if they lie alike in memory; else as they are."""
    order = sorted(range(x.ndim), key=x.strides.__getitem__, reverse=True)
    x, out = x.transpose(order), out.transpose(order)
    if not (x.flags.c_contiguous and out.flags.c_contiguous):
        return x, out
    if x.ctypes.data != out.ctypes.data and np.may_share_memory(x, out):
        x = x.copy()
    return x.reshape(-1), out.reshape(-1)
