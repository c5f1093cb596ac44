# cython: nonecheck=True, boundscheck=True
"""ValueRanges, an interval, and the infinities of whole numbers.

What `bound_sympy` and `var_to_range` give, and what constraints are made of. Inside the core an
infinite bound is a float also of whole numbers; here it is `int_oo`, which prints as PyTorch's.
"""

import functools
import math
from dispatch.symbolic.errors import ValueRangeError

cdef double INF = math.inf

__all__ = ["IntInfinity", "NegativeIntInfinity", "ValueRanges", "int_oo"]


@functools.total_ordering
class IntInfinity:
    """Above (below) every whole number, below the infinity of floats."""

    __slots__ = ()
    _sign = 1
    is_integer = True

    def __eq__(self, other):
        return isinstance(other, IntInfinity) and other._sign == self._sign

    def __lt__(self, other):
        if isinstance(other, IntInfinity):
            return self._sign < other._sign
        return float(other) == math.inf if self._sign > 0 else float(other) != -math.inf

    def __hash__(self):
        return hash(float(self))

    def __neg__(self):
        return NEGATIVE if self._sign > 0 else int_oo

    def __float__(self):
        return self._sign * math.inf

    def __repr__(self):
        return "int_oo" if self._sign > 0 else "-int_oo"

    def __reduce__(self):
        return _infinity, (self._sign,)

    def __add__(self, other):
        return self

    __radd__ = __sub__ = __add__

    def __rsub__(self, other):
        return -self

    def __mul__(self, other):
        return 0 if other == 0 else self if other > 0 else -self

    __rmul__ = __mul__

    def __truediv__(self, other):
        return float(self) / float(other)

    def __pow__(self, other):
        if other > 0:
            odd = not isinstance(other, IntInfinity) and other % 2 == 1
            return self if self._sign > 0 or odd else -self
        return 0 if other < 0 else 1

    def __abs__(self):
        return int_oo


class NegativeIntInfinity(IntInfinity):
    """Below every whole number, above the negative infinity of floats."""

    __slots__ = ()
    _sign = -1


int_oo = IntInfinity()
NEGATIVE = NegativeIntInfinity()


cdef str bound_text(object bound):
    """As sympy prints it."""
    return str(bound).replace("inf", "oo") if isinstance(bound, float) else str(bound)


def _infinity(sign):
    return int_oo if sign > 0 else NEGATIVE


def _plain(bound):
    """An int, float or bool: of a number, an expression that is one, a sympy number."""
    if isinstance(bound, IntInfinity):
        return float(bound)
    if type(bound) in (int, float, bool):
        return bound
    if bound is None or isinstance(bound, str):
        raise AssertionError(f"not accepted type {type(bound)}")
    text = str(bound)
    if text in ("oo", "int_oo", "-oo", "-int_oo"):
        return -math.inf if text[0] == "-" else math.inf
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(bound) if getattr(bound, "is_integer", False) in (True, None) else float(bound)


cdef class ValueRanges:
    """All numbers from `lower` to `upper`, both included."""

    def __init__(self, lower, upper):
        cdef bint whole = any([isinstance(b, IntInfinity) or str(b).endswith("int_oo") for b in (lower, upper)])
        self.low, self.high = _plain(lower), _plain(upper)
        if self.low > self.high:
            raise ValueRangeError(f"Invalid ranges [{lower}:{upper}]")
        if type(self.low) is int or type(self.high) is int:
            whole = True
        self.whole = whole and all([type(b) is int or b in (INF, -INF) for b in (self.low, self.high)])

    @staticmethod
    def unknown():
        """Every float."""
        return new_range(-INF, INF, False)

    @staticmethod
    def unknown_int():
        """Every whole number."""
        return new_range(-INF, INF, True)

    @staticmethod
    def unknown_bool():
        """False and True."""
        return new_range(False, True, False)

    @staticmethod
    def wrap(value):
        """A range as it is; a number as the range of it alone."""
        return value if isinstance(value, ValueRanges) else ValueRanges(value, value)

    @property
    def lower(self):
        return shown(self.low, self.whole)

    @property
    def upper(self):
        return shown(self.high, self.whole)

    @property
    def is_bool(self):
        return type(self.low) is bool

    @property
    def is_int(self):
        return self.whole

    @property
    def is_float(self):
        return not self.whole and type(self.low) is not bool

    def is_singleton(self):
        return bool(self.low == self.high)

    def issubset(self, ValueRanges other not None):
        return bool(other.low <= self.low and self.high <= other.high)

    def __contains__(self, value):
        return ValueRanges.wrap(value).issubset(self)

    def __and__(self, ValueRanges other not None):
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            raise ValueRangeError(f"Invalid ranges [{low}:{high}]")
        return new_range(low, high, self.whole or other.whole)

    def tighten(self, other):
        """The numbers of both."""
        return self & other

    def boolify(self):
        """The range as one of truth values; AssertionError where it is one of some numbers."""
        if self.is_bool:
            return self
        if self.low == -INF and self.high == INF and not self.whole:
            return ValueRanges.unknown_bool()
        raise AssertionError(f"not bool like {self}")

    @staticmethod
    def increasing_map(x, fn):
        """The range of a function that grows with its argument."""
        x = ValueRanges.wrap(x)
        return ValueRanges(fn(x.lower), fn(x.upper))

    @staticmethod
    def decreasing_map(x, fn):
        """The range of a function that falls as its argument grows."""
        x = ValueRanges.wrap(x)
        return ValueRanges(fn(x.upper), fn(x.lower))

    @staticmethod
    def monotone_map(x, fn):
        """The range of a function that grows or falls."""
        x = ValueRanges.wrap(x)
        ends = fn(x.lower), fn(x.upper)
        return ValueRanges(min(ends), max(ends))

    @staticmethod
    def convex_min_zero_map(x, fn):
        """The range of a convex function whose least value is 0, at 0."""
        x = ValueRanges.wrap(x)
        if 0 not in x:
            return ValueRanges.monotone_map(x, fn)
        upper = max(fn(x.lower), fn(x.upper))
        return ValueRanges(0.0 if isinstance(upper, float) else 0, upper)

    @staticmethod
    def coordinatewise_increasing_map(x, y, fn):
        """The range of a function of two that grows with each."""
        x, y = ValueRanges.wrap(x), ValueRanges.wrap(y)
        return ValueRanges(fn(x.lower, y.lower), fn(x.upper, y.upper))

    @staticmethod
    def coordinatewise_monotone_map(x, y, fn):
        """The range of a function of two that grows or falls with each."""
        x, y = ValueRanges.wrap(x), ValueRanges.wrap(y)
        ends = [fn(a, b) for a in (x.lower, x.upper) for b in (y.lower, y.upper)]
        return ValueRanges(min(ends), max(ends))

    def __or__(self, ValueRanges other not None):
        return new_range(min(self.low, other.low), max(self.high, other.high), self.whole and other.whole)

    def __eq__(self, other):
        cdef ValueRanges o
        if not isinstance(other, ValueRanges):
            return NotImplemented
        o = other
        return self.low == o.low and self.high == o.high and self.whole == o.whole

    def __hash__(self):
        return hash((self.low, self.high))

    def __repr__(self):
        return f"VR[{bound_text(self.lower)}, {bound_text(self.upper)}]"

    def __reduce__(self):
        return ValueRanges, (self.lower, self.upper)


cdef object shown(object bound, bint whole):
    """A bound as programs see it: infinities of whole numbers are `int_oo`."""
    if whole and type(bound) is float and (bound == INF or bound == -INF):
        return int_oo if bound > 0 else NEGATIVE
    return bound


cdef ValueRanges new_range(object low, object high, bint whole):
    cdef ValueRanges r = ValueRanges.__new__(ValueRanges)
    r.low, r.high, r.whole = low, high, whole
    return r
