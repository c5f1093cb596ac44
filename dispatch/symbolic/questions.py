"""What programs ask of symbolic numbers: `sym_*`, guards, checks, what is known without one.

Functions over `numbers` that take plain numbers as well. Names and behaviour are those of `torch`
and `torch.fx.experimental.symbolic_shapes`.
"""

import builtins
import functools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dispatch._C.torch_function import _watch_function
from dispatch.symbolic.node import SymNode
from dispatch.symbolic.numbers import (
    SymBool,
    SymFloat,
    SymInt,
    sym_float as as_sym_float,
    to_node,
    wrap_node,
)
from dispatch.symbolic.ranges import int_oo

__all__ = [
    "SymTypes",
    "_advise_is_bounded",
    "_advise_is_size",
    "_check",
    "_check_is_size",
    "_constrain_range_for_size",
    "_sym_acos",
    "_sym_asin",
    "_sym_atan",
    "_sym_cos",
    "_sym_cosh",
    "_sym_log2",
    "_sym_sin",
    "_sym_sinh",
    "_sym_sqrt",
    "_sym_tan",
    "_sym_tanh",
    "constrain_range",
    "constrain_unify",
    "expect_true",
    "guard_bool",
    "guard_float",
    "guard_int",
    "guard_or_false",
    "guard_or_true",
    "guard_scalar",
    "guard_size_oblivious",
    "has_guarding_hint",
    "has_static_value",
    "is_concrete_bool",
    "is_concrete_float",
    "is_concrete_int",
    "is_nested_int",
    "is_symbolic",
    "statically_known_false",
    "statically_known_true",
    "sym_and",
    "sym_eq",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_or",
    "sym_sqrt",
    "sym_sum",
]

SymTypes: Any = (SymInt, SymFloat, SymBool)
_watched: Any = functools.partial(_watch_function, arguments=True)  # handlers are asked first


@_watched
def sym_float(a: Any) -> Any:
    """float(a); a SymFloat of a symbolic number."""
    return as_sym_float(a)


@_watched
def sym_int(a: Any) -> Any:
    """int(a); a SymInt of a symbolic number."""
    return a if isinstance(a, SymInt) else math.trunc(a) if isinstance(a, SymFloat) else int(a)


@_watched
def sym_not(a: Any) -> Any:
    """not a, without a guard."""
    return a.__sym_not__() if hasattr(a, "__sym_not__") else not a


def _extreme(name: str, plain: Callable[..., Any], a: Any, b: Any) -> Any:
    if isinstance(a, (SymInt, SymFloat)):
        return getattr(a, name)(b)
    if isinstance(b, (SymInt, SymFloat)):
        return getattr(b, name)(a)
    for x in (a, b):
        if not isinstance(x, (int, float, np.integer, np.floating)):
            raise AssertionError(f"expected a number, got {type(x)}")
    found = plain(a, b)
    floats = isinstance(a, (float, np.floating)) or isinstance(b, (float, np.floating))
    return float(found) if floats else found


@_watched
def sym_max(a: Any, b: Any) -> Any:
    """max(a, b), without a guard; a float when one of them is."""
    return _extreme("__sym_max__", max, a, b)


@_watched
def sym_min(a: Any, b: Any) -> Any:
    """min(a, b), without a guard; a float when one of them is."""
    return _extreme("__sym_min__", min, a, b)


@_watched
def sym_sum(*args: Any) -> Any:
    """The sum of whole numbers, in one step."""
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = tuple(args[0])
    node = None
    for a in args:
        if not isinstance(a, (SymInt, int)):
            return sum(args)
        if isinstance(a, SymInt):
            node = a.node
    return sum(args) if node is None else wrap_node(node.sym_sum([to_node(node, a) for a in args]))


@_watched
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """t if b else f, without a guard."""
    if not isinstance(b, (SymBool, bool)):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return b.__sym_ite__(t, f) if isinstance(b, SymBool) else t if b else f


def _of_math(name: str) -> Callable[[Any], Any]:
    method, plain = f"__sym_{name}__", getattr(math, name)

    def function(a: Any) -> Any:
        if isinstance(a, SymInt):
            a = sym_float(a)
        return getattr(a, method)() if hasattr(a, method) else plain(a)

    function.__name__ = function.__qualname__ = f"_sym_{name}"
    function.__doc__ = f"math.{name}, without a guard."
    watched: Callable[[Any], Any] = _watched(function)
    return watched


sym_sqrt: Callable[[Any], Any] = _of_math("sqrt")
_sym_sqrt = sym_sqrt
_sym_cos, _sym_cosh, _sym_sin, _sym_sinh = map(_of_math, ("cos", "cosh", "sin", "sinh"))
_sym_tan, _sym_tanh, _sym_asin, _sym_acos = map(_of_math, ("tan", "tanh", "asin", "acos"))
_sym_atan, _sym_log2 = map(_of_math, ("atan", "log2"))


def sym_and(x: Any, *others: Any) -> Any:
    """All of them, without a guard."""
    for y in others:
        x = operator.and_(x, y)
    return x


def sym_or(x: Any, *others: Any) -> Any:
    """Any of them, without a guard."""
    for y in others:
        x = operator.or_(x, y)
    return x


def sym_eq(x: Any, y: Any) -> Any:
    """x == y, without a guard; of lists and tuples, element by element."""
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        if len(x) != len(y):
            return False
        return sym_and(True, *map(sym_eq, x, y))
    if isinstance(x, (int, SymInt)) and isinstance(y, (int, SymInt)):
        return x == y
    raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")


# --- with a guard


def _plain(a: Any, wanted: type) -> Any:
    if type(a) is not wanted:
        raise AssertionError(f"Expected {wanted.__name__}, got {a}")
    return a


def guard_int(a: Any) -> int:
    """The number, which from now on must be this one."""
    return int(a.node.guard_int("", 0)) if isinstance(a, SymInt) else _plain(a, int)


def guard_float(a: Any) -> float:
    """The number, which from now on must be this one."""
    return float(a.node.guard_float("", 0)) if isinstance(a, SymFloat) else _plain(a, float)


def guard_bool(a: Any) -> bool:
    """The truth value, which from now on must be this one."""
    return builtins.bool(a.node.guard_bool("", 0)) if isinstance(a, SymBool) else _plain(a, bool)


def guard_scalar(a: Any) -> Any:
    """The number or truth value, which from now on must be this one."""
    if isinstance(a, (SymBool, bool)):
        return guard_bool(a)
    if isinstance(a, (SymInt, int)):
        return guard_int(a)
    if isinstance(a, (SymFloat, float)):
        return guard_float(a)
    raise AssertionError(f"unrecognized scalar {a}")


def guard_size_oblivious(expr: Any) -> bool:
    """The truth value, where sizes that data decide count as at least 2."""
    if not isinstance(expr, SymBool):
        return bool(_plain(expr, bool))
    return bool(expr.node.guard_size_oblivious("", 0))


def guard_or_false(a: Any) -> bool:
    """The truth value; False where only data decide."""
    return bool(a.node.guard_or_false("", 0)) if isinstance(a, SymBool) else _plain(a, bool)


def guard_or_true(a: Any) -> bool:
    """The truth value; True where only data decide."""
    return bool(a.node.guard_or_true("", 0)) if isinstance(a, SymBool) else _plain(a, bool)


def expect_true(a: Any, skip: int = 0) -> bool:
    """It must hold: a guard, or a runtime assert where data decide. False: it is known not to."""
    return bool(a.node.expect_true("", 0)) if isinstance(a, SymBool) else _plain(a, bool)


_UNEXPLAINED = "Expected cond to be True, but got False"


def _check(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """RuntimeError with the text of `message()` unless the condition holds."""
    if not isinstance(cond, (bool, SymBool)):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if expect_true(cond):
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise RuntimeError(_UNEXPLAINED if message is None else str(message()))


def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: Any = None) -> None:
    """The number is a size (and at most `max`)."""
    warnings.warn("_check_is_size: use _check(i >= 0)", FutureWarning, stacklevel=2)
    _check(i >= 0, message)
    _advise_is_size(i)
    if max is not None:
        _check(i <= max, message)
        _advise_is_bounded(i, max)


def _unbacked_symbol(a: Any) -> bool:
    if not isinstance(a, SymInt) or not isinstance(a.node, SymNode) or not a.node.expr.is_symbol:
        return False
    return bool(a.node.shape_env.is_unbacked_symint(a.node.expr))


def _advise_is_size(a: Any) -> None:
    """A number that is known not to be negative counts as a size."""
    if _unbacked_symbol(a):
        _constrain_range_for_size(a)


def _advise_is_bounded(a: Any, upper_bound: Any) -> None:
    """Nothing follows from it yet."""
    if _unbacked_symbol(a) and isinstance(upper_bound, int):
        a.node.shape_env._constrain_is_bounded(a.node.expr, upper_bound)


def _constrain_range_for_size(a: Any, min: int | None = None, max: int | None = None) -> None:
    """Says that a symbol is a size between these."""
    if isinstance(a, (SymFloat, SymBool)):
        raise ValueError("Constraining SymFloat/SymBool is nyi")
    if not isinstance(a, SymInt):
        raise AssertionError("can only constrain range for SymInt")
    if not a.node.expr.is_symbol:
        raise AssertionError(f"constraining non-Symbols NYI: {a}")
    a.node.shape_env._constrain_range_for_size(a.node.expr, min, max)


def constrain_range(a: Any, *, min: Any, max: Any = None) -> None:
    """Says that a number lies between these, both included."""
    min = -int_oo if min is None else min
    max = int_oo if max is None else max
    if max < min:
        raise ValueError(
            "Maximum value to constrain_as_size can't be less than the specified min value, "
            f"received min={min} and max={max}"
        )
    if isinstance(a, int):
        if not min <= a <= max:
            raise ValueError(f"Invalid value {a} for range [{min}:{max}]")
        return
    a.node.shape_env._constrain_range(a.node.expr, min, max)


def constrain_unify(a: Any, b: Any) -> None:
    """Says that two numbers are equal."""
    if isinstance(a, SymInt) or isinstance(b, SymInt):
        (a if isinstance(a, SymInt) else b).node.shape_env._constrain_unify(a, b)
    elif a != b:
        raise AssertionError(f"Expected {a} == {b}")


# --- without a guard


def _known(x: Any) -> bool | None:
    if not isinstance(x, SymBool):
        return _plain(x, bool)
    if not hasattr(x.node, "shape_env"):
        return None
    try:
        return x.node.shape_env._maybe_evaluate_static(x.node.expr)
    except ArithmeticError:
        return None


def statically_known_true(x: Any) -> bool:
    """Whether it holds for all values of the symbols."""
    return _known(x) is True


def statically_known_false(x: Any) -> bool:
    """Whether it holds for no values of the symbols."""
    return _known(x) is False


def _is_concrete(a: Any, symbolic: Any, plain: type) -> bool:
    if not isinstance(a, (symbolic, plain)):
        raise AssertionError(f"Expected {plain.__name__}, got {type(a)}")
    return not isinstance(a, symbolic) or (a.node.expr.is_number or a.node.expr in (True, False))


def is_concrete_int(a: Any) -> bool:
    """Whether it is one number."""
    return _is_concrete(a, SymInt, int)


def is_concrete_float(a: Any) -> bool:
    """Whether it is one number."""
    return _is_concrete(a, SymFloat, float)


def is_concrete_bool(a: Any) -> bool:
    """Whether it is one truth value."""
    return _is_concrete(a, SymBool, bool)


def has_static_value(a: Any) -> bool:
    """Whether what is known leaves only one value."""
    if not isinstance(a, (bool, float, int, SymInt, SymFloat, SymBool)):
        raise AssertionError(f"Expected a number, got {type(a)}")
    if isinstance(a, (bool, float, int)):
        return True
    return bool(a.node.shape_env.bound_sympy(a.node.expr).is_singleton())


def has_guarding_hint(a: Any) -> bool:
    """Whether this run has a number for it."""
    return not isinstance(a, SymTypes) or bool(a.node.has_hint())


def is_symbolic(val: Any) -> bool:
    """Whether it is an expression."""
    return not isinstance(val, (int, float, bool)) and bool(val.node.is_symbolic())


def is_nested_int(s: Any) -> bool:
    """Whether it is the size of a dimension of several lengths."""
    return isinstance(s, SymInt) and bool(s.node.is_nested_int())
