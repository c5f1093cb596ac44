"""Tensors as numpy arrays for CPU bodies: read in the dtype to compute in, written back once.

Every body in this folder that is written in Python starts with `compute` (or `view`) and ends with
`store`. Floats of 16 and 8 bits are computed in float32 and rounded once, when they are stored;
all other dtypes are computed in themselves. Bodies run under `quiet`: no numpy warning gets out.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dispatch._C.dtypes import dtype
from dispatch._C.tensor import Tensor, _numpy_view

__all__ = ["Array", "check_dtype", "compute", "is_narrow", "quiet", "store", "view"]

Array = np.ndarray


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


def store(out: Tensor, values: Array | float) -> None:
    """Write `values`, rounded and cast, to an output."""
    with quiet():
        np.copyto(view(out), values, casting="unsafe")


def check_dtype(op: str, kind: dtype, allowed: Collection[dtype]) -> None:
    """What PyTorch raises where a kernel has no case for a dtype."""
    if kind not in allowed:
        raise NotImplementedError(f"aten::{op}: no CPU kernel for {kind}")
