"""Classes of sympy's objects that PyTorch adds: lengths of ragged rows, and what nothing opens.

`torch.utils._sympy.singleton_int.SingletonInt`, `torch.utils._sympy.functions.Identity`, and the
factor of a division that is found without factoring (`simple_floordiv_gcd`).
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import sympy
from sympy.multipledispatch import dispatch

__all__ = ["Identity", "SingletonInt", "simple_floordiv_gcd"]

_OPEN = "Symbolic SingletonInt: Relation is indeterminate"


class SingletonInt(sympy.AtomicExpr):
    """A whole number of at least 2, equal to itself alone, times a known factor.

    Args: val, which one; coeff, the factor.
    """

    _op_priority = 99999  # before sympy's own

    def __new__(cls, val: Any, *, coeff: Any = 1) -> Any:
        return super().__new__(cls, val)

    def __init__(self, val: Any, *, coeff: Any = 1) -> None:
        self._val, self._coeff = val, coeff

    @property
    def free_symbols(self) -> set[Any]:
        """None."""
        return set()

    def _eval_Eq(self, other: Any) -> Any:
        same = isinstance(other, SingletonInt) and self._parts == other._parts
        return sympy.true if same else sympy.false

    @property
    def _parts(self) -> tuple[Any, Any]:
        return self._val, self._coeff

    def __mul__(self, other: Any) -> "SingletonInt":
        if isinstance(other, SingletonInt):
            raise ValueError("SingletonInt cannot be multiplied by another SingletonInt")
        return SingletonInt(self._val, coeff=self._coeff * other)

    __rmul__ = __mul__

    def _refused(self, other: Any) -> Any:
        raise NotImplementedError("SingletonInt: only products are known")

    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __floordiv__ = __mod__ = _refused


@dispatch(sympy.Integer, SingletonInt)
def _eval_is_ge(a: Any, b: Any) -> Any:
    if a < 2:
        return sympy.false
    raise ValueError(_OPEN)


@dispatch(SingletonInt, sympy.Integer)  # type: ignore[no-redef]
def _eval_is_ge(a: Any, b: Any) -> Any:
    if b <= 2:
        return sympy.true
    raise ValueError(_OPEN)


@dispatch(SingletonInt, SingletonInt)  # type: ignore[no-redef]
def _eval_is_ge(a: Any, b: Any) -> Any:
    if a._val != b._val:
        raise ValueError(_OPEN)
    return sympy.true if a._coeff >= b._coeff else sympy.false


class Identity(sympy.Function):
    """Its argument, which no rule of sympy's sees; `expand(identity=True)` opens it."""

    precedence = 10

    def __repr__(self) -> str:
        return f"Identity({self.args[0]})"

    def _sympystr(self, printer: Any) -> str:
        return f"({printer.doprint(self.args[0])})"

    def _eval_is_real(self) -> Any:
        return self.args[0].is_real

    def _eval_is_integer(self) -> Any:
        return self.args[0].is_integer

    def _eval_expand_identity(self, **hints: Any) -> Any:
        return self.args[0]

    @property
    def is_comparable(self) -> bool:
        """Whether its argument is a number of the line."""
        return bool(self.args[0].is_comparable)

    @property
    def is_number(self) -> bool:  # type: ignore[override]
        """Whether its argument is a number of the line."""
        return bool(self.args[0].is_number) and self.is_comparable

    def __int__(self) -> int:
        number: Any = self.args[0]
        return int(number)

    def __float__(self) -> float:
        number: Any = self.args[0]
        return float(number)

    def _compared(self, other: Any, relation: Callable[..., Any], otherwise: Any) -> Any:
        """Numbers are compared at once."""
        other = sympy.Integer(other) if isinstance(other, int) else other
        both = (self.args[0], other)
        plain = all(isinstance(e, sympy.Expr) and e.is_Atom and e.is_comparable for e in both)
        return sympy.sympify(relation(*both)) if plain else otherwise(other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, operator.ge, super().__ge__)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, operator.gt, super().__gt__)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, operator.le, super().__le__)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, operator.lt, super().__lt__)


def _whole_factor(expr: Any) -> int:
    """The greatest number that divides every term's."""
    factors = (
        math.prod(abs(int(f)) for f in sympy.Mul.make_args(term) if isinstance(f, sympy.Integer))
        for term in sympy.Add.make_args(expr)
    )
    return math.gcd(*factors)


def simple_floordiv_gcd(p: Any, q: Any) -> Any:
    """A common divisor: of the numbers, times the factors of `q` that every term of `p` has."""
    number = math.gcd(_whole_factor(p), _whole_factor(q))
    terms = [sympy.Mul.make_args(term) for term in sympy.Add.make_args(p / number)]
    factors = sympy.Mul.make_args(q / number)
    shared = [f for f in factors if all(f in term for term in terms)]
    return math.prod(shared, start=number)
