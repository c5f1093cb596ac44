"""CPU bodies of elementwise operators, a table: operator, numpy function, dtypes it is defined for.

Called by the structured kernels with an output of the right sizes; `elementwise.run` does the work.
Bodies in Cython for the operators that call paths are measured with stand in `unary` and `binary`.
Dtypes missing from a row's set are those that PyTorch has no kernel for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import (
    BOOL,
    COMPLEX,
    FLOAT8,
    FLOATING,
    FLOATING_AND_COMPLEX,
    INTEGRAL,
    INTEGRAL_AND_FLOATING,
    WIDE_UNSIGNED,
)
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_dtype, quiet, store, view
from dispatch.kernels.cpu.elementwise.driver import Function, Steps, operand, run
from dispatch.kernels.cpu.elementwise.erf import erf_into
from dispatch.kernels.meta import rules

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "conj_physical",
    "cos",
    "cosh",
    "erf",
    "expm1",
    "floor",
    "fmod",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "reciprocal",
    "remainder",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]

Unary = Callable[[Tensor, Tensor], None]
Binary = Callable[[Tensor, Tensor, Tensor], None]
Allowed = Collection[dtype]

_ORDERED = BOOL | INTEGRAL_AND_FLOATING
_LOGICAL = _ORDERED | COMPLEX


# ---- one operand -------------------------------------------------------------------------------


def _of_floats(function: Function, allowed: Allowed = FLOATING_AND_COMPLEX) -> Unary:
    """Integers are computed in the default dtype."""

    def body(out: Tensor, self: Tensor) -> None:
        run(function, allowed, out, rules.float_type(self.dtype), self)

    return body


def _of_same(function: Function, allowed: Allowed, copied: Allowed = frozenset()) -> Unary:
    """Computed in self's dtype; those in `copied` only hold values that are their own results."""

    def body(out: Tensor, self: Tensor) -> None:
        if self.dtype in copied:
            store(out, view(self))
        else:
            run(function, allowed, out, self.dtype, self)

    return body


def _sigmoid(x: Array, r: Array) -> None:
    np.negative(x, out=r)
    np.exp(r, out=r)
    r += 1
    np.divide(1, r, out=r)


def _log1p(x: Array, r: Array) -> None:
    if x.dtype.kind != "c":
        np.log1p(x, out=r)
        return
    # numpy adds the 1 first, which loses what is small.
    size = np.hypot(x.real + 1, x.imag)
    near = np.log1p(x.real * (2 + x.real) + x.imag * x.imag) / 2
    r.imag = np.arctan2(x.imag, x.real + 1)
    r.real = np.where(np.abs(x) < 0.5, near, np.log(size))


def _sign(x: Array, r: Array) -> None:
    np.sign(x, out=r)
    np.copyto(r, 0, where=np.isnan(x))


def _reciprocal(x: Array, r: Array) -> None:
    np.reciprocal(x, out=r)
    if r.dtype.kind == "c":
        np.copyto(r, complex(np.inf, np.nan), where=x == 0)


def _rsqrt(x: Array, r: Array) -> None:
    np.sqrt(x, out=r)
    np.divide(1, r, out=r)


acos = _of_floats(np.arccos)
acosh = _of_floats(np.arccosh)
asin = _of_floats(np.arcsin)
asinh = _of_floats(np.arcsinh)
atan = _of_floats(np.arctan)
atanh = _of_floats(np.arctanh)
cos = _of_floats(np.cos)
cosh = _of_floats(np.cosh)
erf = _of_floats(Steps(erf_into), FLOATING)
expm1 = _of_floats(np.expm1)
log = _of_floats(np.log)
log10 = _of_floats(np.log10)
log1p = _of_floats(Steps(_log1p))
log2 = _of_floats(np.log2)
reciprocal = _of_floats(Steps(_reciprocal))
rsqrt = _of_floats(Steps(_rsqrt))
sigmoid = _of_floats(Steps(_sigmoid))
sin = _of_floats(np.sin)
sinh = _of_floats(np.sinh)
sqrt = _of_floats(np.sqrt)
tan = _of_floats(np.tan)
tanh = _of_floats(np.tanh)

_WHOLE = INTEGRAL | WIDE_UNSIGNED
ceil = _of_same(np.ceil, FLOATING, _WHOLE)
floor = _of_same(np.floor, FLOATING, _WHOLE)
round = _of_same(np.rint, FLOATING, _WHOLE)
trunc = _of_same(np.trunc, FLOATING, _WHOLE)
sign = _of_same(Steps(_sign), INTEGRAL_AND_FLOATING, BOOL)
bitwise_not = _of_same(np.invert, INTEGRAL | BOOL)
logical_not = _of_same(np.logical_not, _LOGICAL)


def abs(out: Tensor, self: Tensor) -> None:
    """Complex numbers have a real one."""
    check_dtype(self.dtype, INTEGRAL_AND_FLOATING | COMPLEX | FLOAT8 | {dtypes.complex32})
    with quiet():
        store(out, np.abs(operand(self, self.dtype)))


def conj_physical(out: Tensor, self: Tensor) -> None:
    """A copy of real numbers."""
    check_dtype(self.dtype, _LOGICAL | {dtypes.complex32})
    if self.dtype is dtypes.complex32:
        pairs, conjugate = (view(ops.aten.view_as_real(tensor)) for tensor in (self, out))
        np.multiply(pairs, np.array([1, -1], np.float16), out=conjugate)
    elif self.dtype.is_complex:
        np.conjugate(view(self), out=view(out), casting="unsafe")
    else:
        store(out, view(self))


def _predicate(function: Function, allowed: Allowed) -> Unary:
    """No integer is one."""

    def body(out: Tensor, self: Tensor) -> None:
        if not (self.dtype.is_floating_point or self.dtype.is_complex):
            view(out).fill(False)
            return
        check_dtype(self.dtype, allowed)
        store(out, function(operand(self, self.dtype)))

    return body


_INEXACT = FLOATING_AND_COMPLEX | {dtypes.complex32}
isnan = _predicate(np.isnan, _INEXACT | FLOAT8)
isinf = _predicate(np.isinf, _INEXACT | {dtypes.float8_e5m2})


# ---- two operands ------------------------------------------------------------------------------


def _of_both(function: Function, allowed: Allowed) -> Binary:
    """Computed in the dtype that both have in common."""

    def body(out: Tensor, self: Tensor, other: Tensor) -> None:
        run(function, allowed, out, rules.result_type(self, other), self, other)

    return body


def _of_both_divided(function: Function) -> Binary:
    """The same; integers are not divided by zero."""
    plain = _of_both(function, INTEGRAL_AND_FLOATING)

    def body(out: Tensor, self: Tensor, other: Tensor) -> None:
        kind = rules.result_type(self, other)
        if kind in INTEGRAL and out.numel() and not operand(other, kind).all():
            raise refused("ZeroDivisionError, an integer is divided by zero")
        plain(out, self, other)

    return body


def atan2(out: Tensor, self: Tensor, other: Tensor) -> None:
    """Integers are computed in the default dtype."""
    kind = rules.float_type(rules.result_type(self, other))
    run(np.arctan2, FLOATING, out, kind, self, other)


def _logical(function: Function) -> Binary:
    """Each operand is true or false for itself, which the common dtype does not change."""
    return _of_both(function, _LOGICAL)


bitwise_and = _of_both(np.bitwise_and, BOOL | _WHOLE)
bitwise_or = _of_both(np.bitwise_or, BOOL | _WHOLE)
bitwise_xor = _of_both(np.bitwise_xor, BOOL | _WHOLE)
fmod = _of_both_divided(np.fmod)
logical_and = _logical(np.logical_and)
logical_or = _logical(np.logical_or)
logical_xor = _logical(np.logical_xor)
maximum = _of_both(np.maximum, _ORDERED)
minimum = _of_both(np.minimum, _ORDERED)
remainder = _of_both_divided(np.remainder)
