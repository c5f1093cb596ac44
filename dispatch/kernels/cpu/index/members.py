"""CPU bodies of asking whether elements are in a set, on numpy, which sorts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import compute, store
from dispatch.kernels.meta import rules

__all__ = ["isin_scalar_tensor", "isin_tensor_scalar", "isin_tensor_tensor"]

_aten = ops.aten


def _members(out: Tensor, elements: Any, tested: Any, invert: bool) -> None:
    kind = rules.result_type(elements, tested)
    found, among = (
        compute(_aten.to.dtype(t, kind)) if isinstance(t, Tensor) else np.asarray(t)
        for t in (elements, tested)
    )
    store(out, np.isin(found, among, invert=invert))


def isin_tensor_tensor(
    out: Tensor, elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool
) -> None:
    """Whether each element is among others."""
    _members(out, elements, test_elements, invert)


def isin_tensor_scalar(
    out: Tensor, elements: Tensor, test_element: Any, assume_unique: bool, invert: bool
) -> None:
    """Whether each element is a number."""
    _members(out, elements, test_element, invert)


def isin_scalar_tensor(
    out: Tensor, element: Any, test_elements: Tensor, assume_unique: bool, invert: bool
) -> None:
    """Whether a number is among others."""
    _members(out, element, test_elements, invert)
