"""ValueRanges, an interval, and the infinities of whole numbers.

What `bound_sympy` and `var_to_range` give, and what constraints are made of. Inside the core an
infinite bound is a float also of whole numbers; here it is `int_oo`, which prints as PyTorch's.
"""

import functools
import math
from typing import Any, Self

from dispatch.symbolic.errors import ValueRangeError

__all__ = ["ValueRanges", "int_oo"]


@functools.total_ordering
class IntInfinity:
    """Above (below) every whole number, below the infinity of floats."""

    __slots__ = ("_sign",)

    def __init__(self, sign: int = 1) -> None:
        self._sign = sign

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntInfinity) and other._sign == self._sign

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, IntInfinity):
            return self._sign < other._sign
        return float(other) == math.inf if self._sign > 0 else float(other) != -math.inf

    def __hash__(self) -> int:
        return hash(float(self))

    def __neg__(self) -> "IntInfinity":
        return NEGATIVE if self._sign > 0 else int_oo

    def __float__(self) -> float:
        return self._sign * math.inf

    def __repr__(self) -> str:
        return "int_oo" if self._sign > 0 else "-int_oo"

    def __reduce__(self) -> tuple[Any, ...]:
        return _infinity, (self._sign,)

    def __add__(self, other: Any) -> "IntInfinity":
        return self

    __radd__ = __sub__ = __add__

    def __rsub__(self, other: Any) -> "IntInfinity":
        return -self

    def __mul__(self, other: Any) -> Any:
        return 0 if other == 0 else self if other > 0 else -self

    __rmul__ = __mul__


int_oo = IntInfinity()
NEGATIVE = IntInfinity(-1)


def _infinity(sign: int) -> IntInfinity:
    return int_oo if sign > 0 else NEGATIVE


def _plain(bound: Any) -> Any:
    """An int, float or bool: of a number, an expression that is one, a sympy number."""
    if isinstance(bound, IntInfinity):
        return float(bound)
    if type(bound) in (int, float, bool):
        return bound
    text = str(bound)
    if text in ("oo", "int_oo", "-oo", "-int_oo"):
        return -math.inf if text[0] == "-" else math.inf
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(bound) if getattr(bound, "is_integer", False) in (True, None) else float(bound)


class ValueRanges:
    """All numbers from `lower` to `upper`, both included."""

    __slots__ = ("_whole", "lower", "upper")

    lower: Any
    upper: Any

    def __init__(self, lower: Any, upper: Any) -> None:
        whole = any(isinstance(b, IntInfinity) or str(b).endswith("int_oo") for b in (lower, upper))
        low, high = _plain(lower), _plain(upper)
        if low > high:
            raise ValueRangeError(f"Invalid ranges [{lower}:{upper}]")
        whole = whole or type(low) is int or type(high) is int
        self._set(
            low,
            high,
            (whole and float not in (type(low), type(high)))
            or (whole and all(type(b) is int or math.isinf(b) for b in (low, high))),
        )

    def _set(self, low: Any, high: Any, whole: bool) -> None:
        if whole:
            low = NEGATIVE if low == -math.inf else int_oo if low == math.inf else low
            high = int_oo if high == math.inf else NEGATIVE if high == -math.inf else high
        self.lower, self.upper, self._whole = low, high, whole

    @classmethod
    def _of(cls, low: Any, high: Any, whole: bool) -> Self:
        made = cls.__new__(cls)
        made._set(low, high, whole)
        return made

    def _bounds(self) -> tuple[Any, Any]:
        return (_plain(self.lower), _plain(self.upper))

    @staticmethod
    def unknown() -> "ValueRanges":
        """Every float."""
        return ValueRanges._of(-math.inf, math.inf, False)

    @staticmethod
    def unknown_int() -> "ValueRanges":
        """Every whole number."""
        return ValueRanges._of(-math.inf, math.inf, True)

    @staticmethod
    def unknown_bool() -> "ValueRanges":
        """False and True."""
        return ValueRanges._of(False, True, False)

    @staticmethod
    def wrap(value: Any) -> "ValueRanges":
        """A range as it is; a number as the range of it alone."""
        return value if isinstance(value, ValueRanges) else ValueRanges(value, value)

    @property
    def is_bool(self) -> bool:
        return type(self.lower) is bool

    @property
    def is_int(self) -> bool:
        return self._whole and not self.is_bool

    @property
    def is_float(self) -> bool:
        return not self._whole and not self.is_bool

    def is_singleton(self) -> bool:
        return bool(self.lower == self.upper)

    def issubset(self, other: "ValueRanges") -> bool:
        a, b = self._bounds(), other._bounds()
        return bool(b[0] <= a[0] and a[1] <= b[1])

    def __contains__(self, value: Any) -> bool:
        return ValueRanges.wrap(value).issubset(self)

    def __and__(self, other: "ValueRanges") -> "ValueRanges":
        a, b = self._bounds(), other._bounds()
        low, high = max(a[0], b[0]), min(a[1], b[1])
        if low > high:
            raise ValueRangeError(f"Invalid ranges [{low}:{high}]")
        return ValueRanges._of(low, high, self._whole or other._whole)

    tighten = __and__

    def __or__(self, other: "ValueRanges") -> "ValueRanges":
        a, b = self._bounds(), other._bounds()
        return ValueRanges._of(min(a[0], b[0]), max(a[1], b[1]), self._whole and other._whole)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueRanges) and (self.lower, self.upper, self._whole) == (
            other.lower,
            other.upper,
            other._whole,
        )

    def __hash__(self) -> int:
        return hash((self.lower, self.upper))

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {self.upper}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueRanges, (self.lower, self.upper)
