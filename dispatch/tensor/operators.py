"""Python's operators on tensors: a table of what each special method runs and what handlers see.

The compiled slots (`_C/slots`) ask `_callable` once for each special method, when it first runs;
what it returns is called from C from then on. A TypeError of a binary one makes Python ask the
other operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dispatch._C import dtypes
from dispatch._C.arrays import from_numpy
from dispatch._C.function import _find_function
from dispatch._C.slots import _set_slot_maker
from dispatch._C.tensor import Tensor
from dispatch._C.torch_function import _watch_slot, _watch_twin
from dispatch._ops import ops
from dispatch.tensor.frequent import as_index, value_as

__all__ = ["as_function", "positive", "reverse_divide"]

_aten = ops.aten

# What handlers of `__torch_function__` are shown: the operator's method (`Tensor.add` for `+`); the
# slot; or the slot with an empty dictionary of keywords, because it is a Python function in
# PyTorch. A nested list is searched for handlers where the slot's own arguments are parsed. What
# runs as it is has been shown to them before; the slot of its own asks self's handler only, and
# then the method asks the other's.
_METHOD, _SLOT, _PARSED_SLOT, _PYTHON, _AS_IT_IS, _OWN_SLOT = range(6)


class _Row(NamedTuple):
    """What a special method runs: the method or function of that name, or a function of ours."""

    runs: str | Callable[..., Any]
    shown: int
    turned: bool = False  # the operator is called with (other, self)


def as_function(name: str) -> Callable[..., Any]:
    """The operator as a method, else as a function, else its packet."""
    found = _find_function(name, True) or _find_function(name, False)
    return getattr(_aten, name) if found is None else found


def _inverted(self: Tensor) -> Tensor:
    if self.dtype.is_floating_point or self.dtype.is_complex:
        raise TypeError(f"~: only integers and bools have bits to invert, got {self.dtype}")
    return as_function("bitwise_not")(self)


def positive(self: Tensor) -> Tensor:
    """The tensor itself (Tensor.positive). RuntimeError for bool, which has no sign."""
    if self.dtype is dtypes.bool:
        raise RuntimeError("+: a bool tensor has no sign")
    return self


def reverse_divide(self: Tensor, other: Any) -> Any:
    """`other / self`: PyTorch divides a number by a tensor through the reciprocal."""
    try:
        return self.reciprocal() * other
    except TypeError:
        return NotImplemented


def _equal_to_array(self: Tensor, other: Any) -> Any:
    """`self == other`, where other is an array of numbers; NotImplemented for anything else."""
    if not isinstance(other, np.ndarray):
        return NotImplemented
    try:
        numbers = from_numpy(other)
    except TypeError:
        return NotImplemented
    return self == numbers


_ROWS = {
    "__add__": _Row("add", _METHOD),
    "__radd__": _Row("add", _METHOD),
    "__iadd__": _Row("add_", _METHOD),
    "__sub__": _Row("sub", _METHOD),
    "__rsub__": _Row("rsub", _PYTHON),
    "__isub__": _Row("sub_", _METHOD),
    "__mul__": _Row("mul", _METHOD),
    "__rmul__": _Row("mul", _METHOD),
    "__imul__": _Row("mul_", _METHOD),
    "__truediv__": _Row("div", _METHOD),
    "__rtruediv__": _Row(reverse_divide, _PYTHON),
    "__itruediv__": _Row("div_", _METHOD),
    "__floordiv__": _Row("floor_divide", _PYTHON),
    "__rfloordiv__": _Row("floor_divide", _PYTHON, turned=True),
    "__ifloordiv__": _Row("floor_divide_", _METHOD),
    "__mod__": _Row("remainder", _METHOD),
    "__rmod__": _Row("remainder", _PYTHON, turned=True),
    "__imod__": _Row("remainder_", _METHOD),
    "__pow__": _Row("pow", _PYTHON),
    "__rpow__": _Row("pow", _PYTHON, turned=True),
    "__ipow__": _Row("pow_", _PYTHON),
    "__matmul__": _Row("matmul", _METHOD),
    "__rmatmul__": _Row("matmul", _PYTHON, turned=True),
    "__and__": _Row("__and__", _PARSED_SLOT),
    "__rand__": _Row("bitwise_and", _METHOD),
    "__iand__": _Row("__iand__", _PARSED_SLOT),
    "__or__": _Row("__or__", _PARSED_SLOT),
    "__ror__": _Row("bitwise_or", _METHOD),
    "__ior__": _Row("__ior__", _PARSED_SLOT),
    "__xor__": _Row("__xor__", _PARSED_SLOT),
    "__rxor__": _Row("bitwise_xor", _METHOD),
    "__ixor__": _Row("__ixor__", _PARSED_SLOT),
    "__lshift__": _Row("__lshift__", _PARSED_SLOT),
    "__rlshift__": _Row("bitwise_left_shift", _PYTHON, turned=True),
    "__ilshift__": _Row("__ilshift__", _PARSED_SLOT),
    "__rshift__": _Row("__rshift__", _PARSED_SLOT),
    "__rrshift__": _Row("bitwise_right_shift", _PYTHON, turned=True),
    "__irshift__": _Row("__irshift__", _PARSED_SLOT),
    "__lt__": _Row("lt", _METHOD),
    "__le__": _Row("le", _METHOD),
    "__eq__": _Row("eq", _OWN_SLOT),
    "__ne__": _Row("ne", _METHOD),
    "__gt__": _Row("gt", _METHOD),
    "__ge__": _Row("ge", _METHOD),
    "__eq__(ndarray)": _Row(_equal_to_array, _AS_IT_IS),
    "__neg__": _Row("neg", _METHOD),
    "__pos__": _Row(positive, _METHOD),
    "__abs__": _Row("abs", _METHOD),
    "__invert__": _Row(_inverted, _SLOT),
    "__int__": _Row(value_as("int"), _SLOT),
    "__float__": _Row(value_as("float"), _SLOT),
    "__index__": _Row(as_index, _SLOT),
}
# Slots that PyTorch's functions of other names stand in, by these names.
_TWINS = {"__pow__": "pow", "__ipow__": "pow_"}


def _turned(name: str) -> Callable[[Tensor, Any], Any]:
    """`other OP self`, `other` being no tensor."""
    function = _find_function(name, False) or getattr(_aten, name)

    def operate(self: Tensor, other: Any) -> Any:
        return function(other, self)

    return operate


def _callable(slot: str) -> Callable[..., Any]:
    """What the special method runs, and asks handlers with."""
    runs: Any
    runs, shown, turned = _ROWS[slot]
    if isinstance(runs, str):
        runs = _turned(runs) if turned else as_function(runs)
    elif shown == _METHOD:
        runs = getattr(Tensor, runs.__name__)
    if shown in (_METHOD, _AS_IT_IS):
        return runs
    if shown == _PYTHON:
        method = vars(Tensor)["__rdiv__"] if slot == "__rtruediv__" else None
        if slot in _TWINS:
            method = _watch_twin(runs, _TWINS[slot], slot)
        return _watch_slot(runs, slot, method, keywords=True)
    return _watch_slot(runs, slot, counts_self=shown == _SLOT, own=shown == _OWN_SLOT)


_set_slot_maker(_callable)
