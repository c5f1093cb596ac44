"""`torch.utils._sympy.interp`: a formula's functions called as an analysis has them.

Functions are known by their names, so that expressions of this package (`x.node.expr`) are read as
sympy's are.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import dispatch
from dispatch.symbolic.expr import Expr

__all__ = ["sympy_interp"]

_NAMES = """
Or or_ And and_ Eq eq Equality eq Ne ne Unequality ne Lt lt StrictLessThan lt Gt gt
StrictGreaterThan gt Le le LessThan le Ge ge GreaterThan ge Not not_ IntTrueDiv int_truediv
FloatTrueDiv truediv FloorDiv floordiv CleanDiv floordiv TruncToFloat trunc Where where Add add
Mul mul FloatPow pow PowByNatural pow_by_natural Pow pow_by_natural Mod mod PythonMod python_mod
Abs abs Min minimum Max maximum ModularIndexing modular_indexing ExprCondPair expr_cond_pair
Piecewise piecewise Identity identity RoundDecimal round_decimal IsNonOverlappingAndDenseIndicator
is_non_overlapping_and_dense_indicator
"""
_METHODS = dict(zip(_NAMES.split()[::2], _NAMES.split()[1::2], strict=True))
# These get the dtype of whole numbers too.
_TO_WHOLE = {
    "TruncToInt": "trunc_to_int",
    "floor": "floor_to_int",
    "ceiling": "ceil_to_int",
    "FloorToInt": "floor_to_int",
    "CeilToInt": "ceil_to_int",
    "RoundToInt": "round_to_int",
}
_OF_MANY = frozenset(("minimum", "maximum", "mul", "add", "and_", "or_"))


def _constant(expr: Any) -> Any:
    """The dtype of a number or truth value; None for everything else."""
    if isinstance(expr, Expr):
        if expr.function != "Number":
            return None
        kinds = {bool: dispatch.bool, int: dispatch.int64}
        return kinds.get(type(expr.value), dispatch.double)
    if getattr(expr, "is_Boolean", False) and not expr.args:
        return dispatch.bool
    if not getattr(expr, "is_Number", False):
        return None
    return dispatch.int64 if expr.is_Integer else dispatch.double


def _called(analysis: Any, name: str, expr: Any, args: list[Any], index_dtype: Any) -> Any:
    if name == "Pow" and str(expr.args[1]) == "1/2":
        return analysis.sqrt(args[0])
    if name == "ToFloat":
        return analysis.to_dtype(args[0], dispatch.float64)
    if name in _TO_WHOLE:
        return getattr(analysis, _TO_WHOLE[name])(*args, index_dtype)
    if name == "Add" and expr.is_integer and hasattr(analysis, "sym_sum"):
        return analysis.sym_sum(args)
    if name == "Piecewise" and isinstance(expr, Expr):
        args = [(args[0], args[1]), (args[2], True)]
    bare = name.removeprefix("OpaqueUnaryFn_").removeprefix("BitwiseFn_")
    method = _METHODS.get(name, bare)
    function = getattr(analysis, method)
    return functools.reduce(function, args) if method in _OF_MANY else function(*args)


def sympy_interp(
    analysis: Any,
    env: Mapping[Any, Any],
    expr: Any,
    *,
    index_dtype: Any = dispatch.int64,
    missing_handler: Callable[[Any], Any] | None = None,
) -> Any:
    """The value of a formula, `env` for its symbols and methods of `analysis` for its functions.

    Args:
        index_dtype: what functions that make whole numbers are told.
        missing_handler: gives values of symbols that `env` has not.

    Raises:
        KeyError: a symbol without a value; AttributeError: a function that `analysis` has not.
    """
    dtype = _constant(expr)
    if dtype is not None:
        return analysis.constant(expr.value if isinstance(expr, Expr) else expr, dtype)
    name = expr.function if isinstance(expr, Expr) else type(expr).__name__
    if getattr(expr, "is_symbol", False) or name == "Symbol":
        if expr in env:
            return env[expr]
        if missing_handler is None:
            raise KeyError(expr)
        return missing_handler(expr)
    options: Any = {"index_dtype": index_dtype, "missing_handler": missing_handler}
    args = [sympy_interp(analysis, env, each, **options) for each in expr.args]
    return _called(analysis, name, expr, args, index_dtype)
