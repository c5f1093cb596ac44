"""TorchScript's operators on numbers, strings and lists: no tensor takes part.

A kernel is named after its operator (`not_` for `__not__`) and serves all of its overloads, whose
schemas have made the arguments what they ask for. Integers are 64 bits wide; what C++ answers with
infinity or NaN is that here, not an exception.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dispatch._C.errors import refused

__all__: list[str] = []

_BITS = 64
_LAST_FACTORIAL = 65  # those of larger numbers have 64 twos in them
_SPACES = " \n\t\f\v"
_LONGEST = 2**31 - 1  # of texts that are filled up
_FILLED = frozenset(("center", "expandtabs", "ljust", "rjust", "zfill"))
Number = Any


def _wrapped(value: Any) -> Any:
    """An int as 64 bits hold it; anything else as it is."""
    if type(value) is not int:
        return value
    value &= (1 << _BITS) - 1
    return value - (1 << _BITS) if value >> (_BITS - 1) else value


def _wrapping(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: _wrapped(call(*args))


def _as_c(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `math` that answers NaN out of its domain, infinity beyond floats."""

    def kernel(*args: Number) -> Any:
        try:
            return call(*args)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return kernel


def _smooth(function: Any, whole: bool = False) -> Callable[[Number], Any]:
    """numpy's function of a float or a complex number; `whole`: its value as an int."""

    def kernel(a: Number) -> Any:
        with np.errstate(all="ignore"):
            found = function(a if isinstance(a, complex) else float(a))
        return int(found) if whole else found.item()

    return kernel


def _divided(a: Number, b: Number) -> Any:
    """A quotient; 1 / 0 is infinity."""
    kind = np.complex128 if isinstance(a, complex) or isinstance(b, complex) else np.float64
    with np.errstate(all="ignore"):
        return np.divide(kind(a), kind(b)).item()


def _whole_divisor(b: Number) -> None:
    if b == 0:
        raise refused("the divisor is 0")


def _floordiv(a: Number, b: Number) -> Number:
    """The quotient, rounded down."""
    if isinstance(a, int) and isinstance(b, int):
        _whole_divisor(b)
        return _wrapped(a // b)
    return float(np.floor(_divided(a, b)))


def _remainder(a: Number, b: Number) -> Number:
    """What is left, with the divisor's sign."""
    if isinstance(a, int) and isinstance(b, int):
        _whole_divisor(b)
        return a % b
    with np.errstate(all="ignore"):
        return float(np.fmod(np.float64(b) + np.fmod(float(a), float(b)), float(b)))


def _divmod(x: Number, y: Number) -> tuple[Number, Number]:
    _whole_divisor(y)
    return builtins.divmod(x, y)


def _to_zero(a: int, b: int) -> int:
    _whole_divisor(b)
    quotient = builtins.abs(a) // builtins.abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _pow(a: Number, b: Number) -> Number:
    """Never an int, not even of two."""
    with np.errstate(all="ignore"):
        if isinstance(a, complex) or isinstance(b, complex):
            return complex(np.power(np.complex128(a), np.complex128(b)))
        if a == 0 and b < 0:
            raise refused(f"{a} cannot be raised to a negative power")
        return float(np.power(float(a), float(b)))


def _factorial(a: int) -> int:
    if a < 0:
        raise refused("factorial() not defined for negative values")
    return 0 if a > _LAST_FACTORIAL else _wrapped(math.factorial(a))


def _log(a: Number, b: Number | None = None) -> Any:
    """The natural logarithm, or that to the base `b`."""
    natural = _smooth(np.log)
    return natural(a) if b is None else _divided(natural(a), natural(b))


def _polar(a: float, b: float) -> complex:
    return complex(a * _as_c(math.cos)(b), a * _as_c(math.sin)(b))


def _complex(x: Number, y: Number = 0) -> complex:
    return x if isinstance(x, complex) else complex(x, y)


def _length_of_range(lo: int, hi: int, step: int) -> int:
    if step == 0:
        raise refused("range() arg 3 must not be zero")
    return len(range(lo, hi, step))


def _index_of(self: Any, el: Any, start: int = 0, end: int = -1) -> int:
    if isinstance(self, list):
        if el not in self:
            raise refused(f"'{el}' is not in list")
        return self.index(el)
    found = self.find(el, *_bounds(self, start, end))
    if found < 0:
        raise refused("ValueError: substring not found")
    return int(found)


def _bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """Counted from the end when negative; -1 as an end is the end."""
    n = len(text)
    return (max(0, n + start) if start < 0 else start, max(0, n + end + 1) if end < 0 else end)


def _count(self: Any, substr: Any, start: int = 0, end: int = -1) -> int:
    if isinstance(self, list):
        return self.count(substr)
    return int(self.count(substr, *_bounds(self, start, end)))


def _bounded(name: str) -> Callable[..., Any]:
    """A method of strings that looks at a part."""

    def kernel(self: str, substr: str, start: int = 0, end: int = -1) -> Any:
        if start > len(self):
            raise refused(f"start {start} is beyond a text of length {len(self)}", IndexError)
        return getattr(self, name)(substr, *_bounds(self, start, end))

    return kernel


def _must_be_found(name: str) -> Callable[..., int]:
    def kernel(self: str, substr: str, start: int = 0, end: int = -1) -> int:
        found: int = getattr(self, name)(substr, *_bounds(self, start, end))
        if found < 0:
            raise refused("ValueError: substring not found")
        return found

    return kernel


def _method(name: str, *defaults: Any) -> Callable[..., Any]:
    """A method of strings; `defaults` are its last arguments, where the schema has other ones."""

    def kernel(self: str, *args: Any) -> Any:
        given = args + defaults[len(args) :] if defaults else args
        if name in _FILLED and args and args[0] > _LONGEST:
            raise refused(f"a text of {args[0]} characters is too long")
        return getattr(self, name)(*given)

    return kernel


def _slice(
    string: str, start: int | None = None, end: int | None = None, step: int = 1
) -> str:
    return string[start:end:step]


def _item(s: str, index: int) -> str:
    if not -len(s) <= index < len(s):
        raise refused(f"index {index} is outside of a text of length {len(s)}", IndexError)
    return s[index]


def _chosen(choose: Callable[..., Any]) -> Callable[..., Any]:
    """The smaller or the larger of two, or of a list's elements."""

    def kernel(a: Any, b: Any = None) -> Any:
        if b is None and not a:
            raise refused("expected a list with elements")
        found = choose(a) if b is None else choose(a, b)
        return float(found) if isinstance(a, float) or isinstance(b, float) else found

    return kernel


def _sum(self: Sequence[Number]) -> Number:
    return _wrapped(builtins.sum(self))


_KERNELS: dict[str, Callable[..., Any]] = {
    "add": _wrapping(operator.add),
    "sub": _wrapping(operator.sub),
    "mul": _wrapping(operator.mul),
    "div": _divided,
    "floordiv": _floordiv,
    "remainder": _remainder,
    "fmod": _as_c(math.fmod),
    "mathremainder": _as_c(math.remainder),
    "divmod": _divmod,
    "round_to_zero_floordiv": _to_zero,
    "pow": _pow,
    "gcd": math.gcd,
    "factorial": _factorial,
    "copysign": math.copysign,
    "ldexp": _as_c(math.ldexp),
    "frexp": math.frexp,
    "modf": math.modf,
    "neg": _wrapping(operator.neg),
    "abs": _wrapping(builtins.abs),
    "polar": _polar,
    "atan2": math.atan2,
    "degrees": math.degrees,
    "radians": math.radians,
    "fabs": math.fabs,
    "acos": _smooth(np.arccos),
    "acosh": _smooth(np.arccosh),
    "angle": _smooth(np.angle),
    "asin": _smooth(np.arcsin),
    "asinh": _smooth(np.arcsinh),
    "atan": _smooth(np.arctan),
    "atanh": _smooth(np.arctanh),
    "ceil": _smooth(np.ceil, whole=True),
    "cos": _smooth(np.cos),
    "cosh": _smooth(np.cosh),
    "erf": math.erf,
    "erfc": math.erfc,
    "exp": _smooth(np.exp),
    "expm1": _smooth(np.expm1),
    "floor": _smooth(np.floor, whole=True),
    "gamma": _as_c(lambda a: math.copysign(math.inf, a) if a == 0 else math.gamma(a)),
    "lgamma": _as_c(lambda a: math.inf if a <= 0 and a == int(a) else math.lgamma(a)),
    "log": _log,
    "log10": _smooth(np.log10),
    "log1p": _smooth(np.log1p),
    "round": _smooth(np.round),
    "sin": _smooth(np.sin),
    "sinh": _smooth(np.sinh),
    "sqrt": _smooth(np.sqrt),
    "tan": _smooth(np.tan),
    "tanh": _smooth(np.tanh),
    "isfinite": _smooth(np.isfinite),
    "isinf": _smooth(np.isinf),
    "isnan": _smooth(np.isnan),
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": lambda a, b: _wrapped(a << (b & _BITS - 1)),  # as processors shift
    "rshift": lambda a, b: a >> (b & _BITS - 1),
    "not": operator.not_,
    "Bool": bool,
    "Int": int,
    "Float": float,
    "Complex": _complex,
    "bin": bin,
    "hex": hex,
    "oct": oct,
    "chr": chr,
    "ord": ord,
    "all": builtins.all,
    "any": builtins.any,
    "sum": _sum,
    "contains": operator.contains,
    "len": len,
    "range_length": _length_of_range,
    "derive_index": lambda index, start, step: start + index * step,
    "max": _chosen(builtins.max),
    "min": _chosen(builtins.min),
    "index": _index_of,
    "count": _count,
    "getitem": _item,
    "slice": _slice,
    "find": _bounded("find"),
    "rfind": _bounded("rfind"),
    "rindex": _must_be_found("rfind"),
    "startswith": _bounded("startswith"),
    "endswith": _bounded("endswith"),
    "rsplit": _method("rsplit", " ", -1),
    "lstrip": _method("lstrip", _SPACES),
    "rstrip": _method("rstrip", _SPACES),
    "strip": _method("strip", _SPACES),
}


def __getattr__(kernel: str) -> Callable[..., Any]:
    """`NAME_`; for a name that is not in the table the method of strings."""
    name = kernel.removesuffix("_")
    if name == kernel or kernel.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {kernel!r}")
    return _told(_KERNELS.get(name) or _method(name))


def _told(call: Callable[..., Any]) -> Callable[..., Any]:
    """What Python refuses in words of its own is refused with the arguments."""

    def kernel(*args: Any) -> Any:
        try:
            return call(*args)
        except (ArithmeticError, MemoryError, TypeError, ValueError):
            raise refused(f"no value for {', '.join(repr(a)[:40] for a in args)}") from None

    return kernel
