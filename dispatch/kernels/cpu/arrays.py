"""Tensors as numpy arrays for CPU bodies: read in the dtype to compute in, written back once.

Every body in this folder that is written in Python starts with `compute` (or `view`) and ends with
`store`. Floats of 16 and 8 bits are computed in float32 and rounded once, when they are stored;
all other dtypes are computed in themselves. Bodies run under `quiet`: no numpy warning gets out.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.arrays import _new_strided, _numpy_view
from dispatch._C.dtypes import dtype
from dispatch._C.errors import unserved
from dispatch._C.generated.dtype_sets import RARE
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "RARE_OR_COMPLEX32",
    "Array",
    "bits",
    "check_dtype",
    "check_supported",
    "compute",
    "is_narrow",
    "number_of",
    "operand",
    "quiet",
    "store",
    "view",
]

Array = Any  # an np.ndarray; numpy's own types refuse (..., *slices) as an index


def quiet() -> np.errstate:
    """A context (or a decorator) in which numpy does not warn."""
    return np.errstate(all="ignore")


def view(tensor: Tensor) -> Array:
    """The tensor's memory."""
    array: Array = _numpy_view(tensor)
    return array


def is_narrow(kind: dtype) -> bool:
    """Whether values of this dtype are computed in float32."""
    return kind.is_floating_point and kind.itemsize < 4


def compute(tensor: Tensor) -> Array:
    """The tensor's values in the dtype that they are computed in: its memory, or a float32 copy."""
    array = view(tensor)
    return array.astype(np.float32) if is_narrow(tensor.dtype) else array


def operand(tensor: Tensor, kind: dtype) -> Array:
    """A tensor's values rounded to `kind`, in the dtype that they are computed in."""
    array = view(tensor)
    if tensor.dtype is not kind:
        array = array.astype(dtypes._numpy_dtype(kind))
    return array.astype(np.float32) if is_narrow(kind) else array


def store(out: Tensor, values: Array | float) -> None:
    """Write `values`, rounded and cast, to an output."""
    with quiet():
        np.copyto(view(out), values, casting="unsafe")


def check_dtype(kind: dtype, allowed: Collection[dtype]) -> None:
    """What PyTorch raises where a kernel has no case for a dtype."""
    if kind not in allowed:
        raise unserved(kind)


def check_supported(tensor: Tensor, missing: Collection[dtype]) -> None:
    """The same by the dtypes that have no case."""
    if tensor.dtype in missing:
        raise unserved(tensor.dtype)


# Dtypes that many of PyTorch's kernels have no case for.
RARE_OR_COMPLEX32 = RARE | {dtypes.complex32}

_BITS_OF_SIZE = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}


def bits(tensor: Tensor) -> Array:
    """The tensor's memory for moving elements about: those that numpy has not, as integers."""
    if tensor.dtype is dtypes.complex32:
        storage, sizes, strides = tensor.untyped_storage(), tensor.shape, tensor.stride()
        tensor = _new_strided(storage, dtypes.uint32, sizes, strides, tensor.storage_offset())
    array = view(tensor)
    return array.view(_BITS_OF_SIZE[array.itemsize]) if array.dtype.kind == "V" else array


def number_of(value: bool | int | float | complex, kind: dtype) -> Tensor:
    """A tensor without dimensions that holds a number; RuntimeError if it does not fit."""
    number: Tensor = ops.aten.full([], value, dtype=kind)
    return number
