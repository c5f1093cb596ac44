"""PyTorch's functions of whole numbers and floats, called on anything: `FloorDiv(x, y)`, `Mod`, ...

On an expression of ours, or a symbolic number, they make one of the same ShapeEnv; on sympy's
objects and plain numbers a sympy function of that name, which numbers work out (`sympy_class`;
sympy is imported then). `bound_sympy` says between what a sympy expression lies. Names are those
of `torch.utils._sympy.functions` and `value_ranges`.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from dispatch.symbolic.expr import Expr, build
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt
from dispatch.symbolic.ranges import ValueRanges, int_oo
from dispatch.symbolic.shape_env import ShapeEnv
from dispatch.symbolic.sympy_bridge import sympy_class

_NAMES = (
    "FloorDiv", "CleanDiv", "CeilDiv", "Mod", "PythonMod", "PowByNatural", "TruncToInt",
    "CeilToInt", "FloorToInt", "RoundToInt", "ModularIndexing", "LShift", "RShift",
    "IsNonOverlappingAndDenseIndicator", "BitwiseFn_bitwise_and", "BitwiseFn_bitwise_or",
    "BitwiseFn_bitwise_xor", "ToFloat", "IntTrueDiv", "FloatTrueDiv", "FloatPow", "RoundDecimal",
    "TruncToFloat", "Max", "Min", "Where", "OpaqueUnaryFn_sqrt", "OpaqueUnaryFn_cos",
    "OpaqueUnaryFn_cosh", "OpaqueUnaryFn_sin", "OpaqueUnaryFn_sinh", "OpaqueUnaryFn_tan",
    "OpaqueUnaryFn_tanh", "OpaqueUnaryFn_asin", "OpaqueUnaryFn_acos", "OpaqueUnaryFn_atan",
    "OpaqueUnaryFn_exp", "OpaqueUnaryFn_log", "OpaqueUnaryFn_asinh", "OpaqueUnaryFn_log2",
)  # fmt: skip

__all__ = [*_NAMES, "IndicatorTypes", "bound_sympy"]


def _plain(x: Any) -> Any:
    return x.node.expr if isinstance(x, (SymInt, SymFloat, SymBool)) else x


def _built(table: Any, name: str, args: tuple[Any, ...]) -> Any:
    if name == "Where":
        condition, value, otherwise = args
        return build(table, "Piecewise", [value, condition, otherwise])
    return build(table, name, list(args))


def _of_sympy(name: str, args: tuple[Any, ...]) -> Any:
    if name not in ("Max", "Min", "Where"):
        return sympy_class(name)(*args)
    sympy = importlib.import_module("sympy")
    if name == "Where":
        return sympy.Piecewise((args[1], args[0]), (args[2], True))
    return getattr(sympy, name)(*args)


class _Function:
    """One of the functions; `isinstance(x, FloorDiv)` asks whether `x` has it at its root."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{name}, of numbers, expressions and sympy's objects."

    def __call__(self, *args: Any) -> Any:
        args = tuple(map(_plain, args))
        name = self.__name__
        if name == "CeilDiv":
            args, name = (args[0] + args[1] - 1, args[1]), "FloorDiv"
        table = next((a.table for a in args if isinstance(a, Expr)), None)
        return _of_sympy(name, args) if table is None else _built(table, name, args)

    def __instancecheck__(self, x: Any) -> bool:
        name = "Piecewise" if self.__name__ == "Where" else self.__name__
        return (x.function if isinstance(x, Expr) else type(x).__name__) == name

    def __repr__(self) -> str:
        return self.__name__


globals().update({name: _Function(name) for name in _NAMES})
IndicatorTypes = (globals()["IsNonOverlappingAndDenseIndicator"],)


def bound_sympy(expr: Any, ranges: Mapping[Any, Any] | None = None) -> ValueRanges:
    """Between what an expression lies when its symbols lie in `ranges`.

    Of others counts what sympy's symbols say of themselves (`positive=True`).
    """
    if isinstance(expr, (bool, int, float)):
        return ValueRanges.wrap(expr)
    env = ShapeEnv()
    plain = _plain(expr)
    e = env.sympify(plain)
    for symbol in () if isinstance(plain, Expr) else plain.free_symbols:
        if symbol.is_integer and symbol.is_nonnegative:
            low = int(symbol.is_positive or False)
            env.var_to_range[env.sympify(symbol)] = ValueRanges(low, int_oo)
    for symbol, found in (ranges or {}).items():
        env.var_to_range[env.sympify(symbol)] = ValueRanges.wrap(found)
    return env.bound_sympy(e)
