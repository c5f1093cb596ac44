"""When a test takes two values for equal (`TestCase.assertEqual` of PyTorch's own tests).

Sequences and mappings are compared by what they hold, whatever class they are of; tensors, arrays
and numbers within tolerances, where a number stands for a tensor of one element; everything else
by `==`. The place of what differs is in the text.
"""

import cmath
import math
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any
from unittest.util import safe_repr

import numpy as np

import dispatch
from dispatch import Tensor
from dispatch.as_torch.testing.comparing import _tolerance, assert_close

__all__ = ["Equality"]

# A number's, as of float32 and complex64.
_OF_NUMBERS = (1.3e-6, 1e-5)
_SYMBOLIC = (dispatch.SymInt, dispatch.SymFloat, dispatch.SymBool)


class Equality:
    """What two values are compared by; `floor` is the least tolerances (relative, absolute)."""

    def __init__(
        self,
        rtol: float | None,
        atol: float | None,
        floor: tuple[float, float],
        equal_nan: bool,
        **checks: bool,
    ) -> None:
        if (rtol is None) != (atol is None):
            raise ValueError("rtol and atol must both be specified or both be unspecified")
        self.given = None if rtol is None or atol is None else (rtol, atol)
        self.floor, self.equal_nan, self.checks = floor, equal_nan, checks

    def compare(self, x: Any, y: Any, place: str = "") -> None:
        """AssertionError unless both are equal."""
        if _is_array(x) or _is_array(y):
            self._compare_tensors(x, y, place)
        elif isinstance(x, _SYMBOLIC) or isinstance(y, _SYMBOLIC):
            if x != y:
                _fail(f"{x!r} is not equal to {y!r}", place)
        elif _is_truth(x, y) or _is_truth(y, x):
            if bool(x) is not bool(y):
                _fail(f"Booleans mismatch: {x!r} is not {y!r}", place)
        elif isinstance(x, Number) and isinstance(y, Number):
            self._compare_numbers(x, y, place)
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            odd = sorted(map(str, set(x) ^ set(y)))
            if odd:
                _fail(f"The keys of the mappings do not match: {odd}", place)
            for key in x:
                self.compare(x[key], y[key], f"{place}[{key!r}]")
        elif _is_sequence(x) and _is_sequence(y):
            if len(x) != len(y):
                _fail(f"The length of the sequences mismatch: {len(x)} != {len(y)}", place)
            for at, pair in enumerate(zip(x, y, strict=True)):
                self.compare(*pair, f"{place}[{at}]")
        elif _has_bytes(x) and _has_bytes(y):
            self.compare(x.tolist(), y.tolist(), place)
        elif x != y:
            _fail(f"{safe_repr(x)} is not equal to {safe_repr(y)}", place)

    def _least(self, own: tuple[float, float]) -> tuple[float, float]:
        rtol, atol = own if self.given is None else self.given
        return max(rtol, self.floor[0]), max(atol, self.floor[1])

    def _compare_numbers(self, x: Any, y: Any, place: str) -> None:
        exact = isinstance(x, int | np.integer) and isinstance(y, int | np.integer)
        rtol, atol = self._least((0.0, 0.0) if exact else _OF_NUMBERS)
        if x == y or (self.equal_nan and cmath.isnan(x) and cmath.isnan(y)):
            return
        off = abs(x - y)
        if not (math.isfinite(off) and off <= atol + rtol * abs(y)):
            text = "Scalars are not equal!" if rtol == atol == 0 else "Scalars are not close!"
            _fail(f"{text}\n\nExpected {y} but got {x}.\nAbsolute difference: {off}", place)

    def _compare_tensors(self, x: Any, y: Any, place: str) -> None:
        if isinstance(x, Number | np.bool_ | np.number) or isinstance(y, Number | np.bool_):
            if any(_is_array(v) and _count(v) != 1 for v in (x, y)):
                raise ValueError("only a Tensor of one element can be compared with a number")
            one, other = (v.item() if _is_array(v) else v for v in (x, y))
            self.compare(one, other, place)
            return
        if isinstance(x, Tensor) and _is_sequence(y):
            y = dispatch.as_tensor(y, dtype=x.dtype, device=x.device)
        elif isinstance(y, Tensor) and _is_sequence(x):
            x = dispatch.as_tensor(x, dtype=y.dtype, device=y.device)
        elif not _is_array(x) or not _is_array(y):
            if not _is_sequence(x) and not _is_sequence(y):
                _fail(f"{type(x)} is not comparable to {type(y)}", place)
            raise RuntimeError(f"an array is not comparable to a sequence: {type(x)}, {type(y)}")
        a, b = (v if isinstance(v, Tensor) else dispatch.from_numpy(v) for v in (x, y))
        if a.device.type == b.device.type == "meta":
            a, b = (dispatch.zeros(t.shape, dtype=t.dtype) for t in (a, b))
        rtol, atol = self._least(_tolerance(a, b))

        def told(text: str) -> str:
            return f"Tensor-likes are not close!\n\n{text}" + (f", at {place}" if place else "")

        assert_close(
            a, b, rtol=rtol, atol=atol, equal_nan=self.equal_nan, msg=told, **self.checks
        )  # fmt: skip


def _fail(text: str, place: str) -> None:
    raise AssertionError(f"{text}\n\nThe failure occurred for item {place}" if place else text)


def _is_truth(value: Any, other: Any) -> bool:
    """Whether it is a truth value, beside one or a number: anything else is compared by `==`."""
    return isinstance(value, bool | np.bool_) and isinstance(other, Number | np.bool_)


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray)


def _count(value: Any) -> int:
    return int(value.numel() if isinstance(value, Tensor) else value.size)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _has_bytes(value: Any) -> bool:
    """Whether it is a storage that can be read; that of a wrapper is compared as an object."""
    if not isinstance(value, dispatch.TypedStorage | dispatch.UntypedStorage):
        return False
    storage: Any = value
    if storage.device.type != "cpu":
        return False
    try:
        storage.data_ptr()
    except RuntimeError:
        return False
    return True
