"""`torch.utils._sympy.reference`: functions of formulas on sympy's objects, on numbers, on tensors.

`PythonReferenceAnalysis` works on plain and symbolic numbers and on proxies, so that a trace holds
what a formula does; `TensorReferenceAnalysis` calls operators only.
"""

import importlib
import math
import operator
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch.symbolic import functions

__all__ = [
    "OptimizedPythonReferenceAnalysis", "PythonReferenceAnalysis", "ReferenceAnalysis",
    "TensorReferenceAnalysis",
]  # fmt: skip

_aten = dispatch.ops.aten


def _sympy() -> Any:
    return importlib.import_module("sympy")


def _keep_float(function: Callable[..., Any]) -> Any:
    """The function, whose result is a float if an argument is one."""

    def call(*args: Any) -> Any:
        found, sympy = function(*args), _sympy()
        floats = any(isinstance(a, sympy.Float) for a in args)
        return sympy.Float(float(found)) if floats and isinstance(found, sympy.Number) else found

    return staticmethod(call)


def _named(name: str) -> Any:
    """A function of `symbolic.functions`."""
    return staticmethod(lambda *args: getattr(functions, name)(*args))


def _of_sympy(name: str, dtype_follows: bool = False) -> Any:
    def call(*args: Any) -> Any:
        return getattr(_sympy(), name)(*(args[:-1] if dtype_follows else args))

    return call if not dtype_follows else staticmethod(call)


class ReferenceAnalysis:
    """On sympy's objects."""

    or_, and_ = staticmethod(operator.or_), staticmethod(operator.and_)
    lt, gt = staticmethod(operator.lt), staticmethod(operator.gt)
    le, ge = staticmethod(operator.le), staticmethod(operator.ge)
    abs, neg = staticmethod(operator.abs), staticmethod(operator.neg)
    add, mul, sub = map(_keep_float, (operator.add, operator.mul, operator.sub))
    floor, ceil = _keep_float(_of_sympy("floor")), _keep_float(_of_sympy("ceiling"))
    floor_to_int, ceil_to_int = _of_sympy("floor", True), _of_sympy("ceiling", True)
    pow = _keep_float(lambda a, b: functions.FloatPow(a, b))  # type: ignore[attr-defined]
    truediv, int_truediv, floordiv = map(_named, ("FloatTrueDiv", "IntTrueDiv", "FloorDiv"))
    mod, minimum, maximum = map(_named, ("Mod", "Min", "Max"))
    exp, log, log2, sqrt = (_named(f"OpaqueUnaryFn_{f}") for f in ("exp", "log", "log2", "sqrt"))
    bitwise_and, bitwise_or, bitwise_xor = (
        _named(f"BitwiseFn_bitwise_{f}") for f in ("and", "or", "xor")
    )
    pow_by_natural, round_decimal = _named("PowByNatural"), _named("RoundDecimal")

    @staticmethod
    def constant(c: Any, dtype: Any) -> Any:
        """A number of sympy's."""
        return _sympy().sympify(c)

    @staticmethod
    def eq(a: Any, b: Any) -> Any:
        """Whether both are equal, as a condition if that is open."""
        sympy = _sympy()
        return sympy.Eq(a, b) if isinstance(a, sympy.Expr) or isinstance(b, sympy.Expr) else a == b

    @classmethod
    def ne(cls, a: Any, b: Any) -> Any:
        """Whether they differ."""
        return cls.not_(cls.eq(a, b))

    @staticmethod
    def not_(a: Any) -> Any:
        """The opposite; AssertionError for a bool of Python's."""
        if isinstance(a, bool):
            raise AssertionError("not_ needs a condition of sympy's")
        return ~a

    @staticmethod
    def reciprocal(x: Any) -> Any:
        """1 over it."""
        return functions.FloatTrueDiv(1.0, x)  # type: ignore[attr-defined]

    @classmethod
    def square(cls, x: Any) -> Any:
        """Itself times itself."""
        return cls.pow_by_natural(x, 2)

    @staticmethod
    def trunc_to_int(x: Any, dtype: Any) -> Any:
        """The whole number towards 0."""
        return functions.TruncToInt(x)  # type: ignore[attr-defined]

    @staticmethod
    def round_to_int(x: Any, dtype: Any) -> Any:
        """The nearest whole number."""
        return functions.RoundToInt(x)  # type: ignore[attr-defined]

    @staticmethod
    def to_dtype(x: Any, dtype: Any) -> Any:
        """A float; NotImplementedError for other dtypes."""
        if dtype != dispatch.float64:
            raise NotImplementedError(f"to_dtype: {dtype}")
        return functions.ToFloat(x)  # type: ignore[attr-defined]

    @staticmethod
    def truncdiv(a: Any, b: Any) -> Any:
        """NotImplementedError."""
        raise NotImplementedError("truncdiv of sympy's objects")

    @classmethod
    def sym_sum(cls, args: Any) -> Any:
        """The sum of any number of them."""
        return _sympy().Add(*args)


def _made(c: Any, dtype: Any) -> Any:
    kinds = {dispatch.int64: int, dispatch.double: float, dispatch.bool: bool}
    if dtype not in kinds:
        raise AssertionError(f"unrecognized dtype {dtype}")
    return kinds[dtype](c)


class PythonReferenceAnalysis(ReferenceAnalysis):
    """On numbers, plain or symbolic, and on what stands for them in a trace."""

    constant = staticmethod(_made)
    eq: Any = staticmethod(operator.eq)
    add, mul, sub = map(staticmethod, (operator.add, operator.mul, operator.sub))
    truediv = int_truediv = staticmethod(operator.truediv)
    truncdiv: Any = staticmethod(operator.truediv)
    floordiv = staticmethod(operator.floordiv)
    mod = python_mod = staticmethod(operator.mod)
    pow = pow_by_natural = staticmethod(operator.pow)
    bitwise_and, bitwise_or = staticmethod(operator.and_), staticmethod(operator.or_)
    bitwise_xor = staticmethod(operator.xor)
    minimum, maximum = staticmethod(dispatch.sym_min), staticmethod(dispatch.sym_max)
    not_ = staticmethod(dispatch.sym_not)
    sqrt, log2 = staticmethod(dispatch._sym_sqrt), staticmethod(dispatch._sym_log2)
    floor_to_int = staticmethod(lambda x, dtype: math.floor(x))
    ceil_to_int = staticmethod(lambda x, dtype: math.ceil(x))
    trunc_to_int = staticmethod(lambda x, dtype: math.trunc(x))
    round_to_int = staticmethod(lambda x, dtype: round(x))
    round_decimal = staticmethod(round)
    floor = staticmethod(lambda x: float(math.floor(x)))
    ceil = staticmethod(lambda x: float(math.ceil(x)))
    expr_cond_pair = staticmethod(lambda value, condition: (value, condition))
    reciprocal = staticmethod(lambda x: 1.0 / x)

    @classmethod
    def sym_sum(cls, args: Any) -> Any:
        """One sum after the other; 0 without any."""
        first, *rest = args or [0]
        for each in rest:
            first = cls.add(first, each)
        return first

    @staticmethod
    def to_dtype(x: Any, dtype: Any) -> Any:
        """A float; NotImplementedError for other dtypes."""
        if dtype != dispatch.float64:
            raise NotImplementedError(f"to_dtype: {dtype}")
        return dispatch.sym_float(x)

    @staticmethod
    def exp(x: Any) -> Any:
        """AssertionError: sizes have none."""
        raise AssertionError("exp is no function of sizes")

    @staticmethod
    def log(x: Any) -> Any:
        """AssertionError: sizes have none."""
        raise AssertionError("log is no function of sizes")

    @staticmethod
    def piecewise(*pairs: Any) -> Any:
        """The value of the first condition that holds, by `sym_ite`."""
        found = pairs[-1][0]
        for value, condition in reversed(pairs[:-1]):
            found = dispatch.sym_ite(condition, value, found)
        return found


class OptimizedPythonReferenceAnalysis(PythonReferenceAnalysis):
    """The same, with one node for a sum; what has to be whole and is no number is taken for it."""

    sym_sum = staticmethod(dispatch.sym_sum)
    floor_to_int = staticmethod(lambda x, dtype: math.floor(x) if _is_plain(x) else x)
    ceil_to_int = staticmethod(lambda x, dtype: math.ceil(x) if _is_plain(x) else x)
    trunc_to_int = staticmethod(lambda x, dtype: math.trunc(x) if _is_plain(x) else x)


def _is_plain(x: Any) -> bool:
    return isinstance(x, int | float)


_OPERATORS = """
or_ logical_or.default and_ logical_and.default bitwise_and bitwise_and.Tensor bitwise_or
bitwise_or.Tensor bitwise_xor bitwise_xor.Tensor eq eq.Tensor ne ne.Tensor lt lt.Tensor gt
gt.Tensor le le.Tensor ge ge.Tensor not_ logical_not.default reciprocal reciprocal.default square
square.default floor floor.default ceil ceil.default abs abs.default neg neg.default truediv
true_divide.Tensor add add.Tensor mul mul.Tensor sub sub.Tensor exp exp.default log log.default
log2 log2.default sqrt sqrt.default sin sin.default cos cos.default tanh tanh.default sinh
sinh.default cosh cosh.default tan tan.default acos acos.default atan atan.default asin
asin.default pow pow.Tensor_Tensor pow_by_natural pow.Tensor_Tensor minimum minimum.default
maximum maximum.default
"""


class TensorReferenceAnalysis:
    """On tensors without dimensions, by operators: a trace of it holds nothing else."""

    @staticmethod
    def constant(c: Any, dtype: Any) -> Any:
        """A tensor of the number."""
        return _aten.scalar_tensor.default(_made(c, dtype), dtype=dtype)

    @staticmethod
    def to_dtype(x: Any, dtype: Any) -> Any:
        """The same in another dtype."""
        return dispatch.ops.prims.convert_element_type.default(x, dtype)

    @classmethod
    def trunc_to_int(cls, x: Any, dtype: Any) -> Any:
        """The whole number towards 0."""
        return cls.to_dtype(_aten.trunc.default(x), dtype)

    @classmethod
    def ceil_to_int(cls, x: Any, dtype: Any) -> Any:
        """The next whole number above."""
        return cls.to_dtype(_aten.ceil.default(x), dtype)

    @classmethod
    def floor_to_int(cls, x: Any, dtype: Any) -> Any:
        """The next whole number below."""
        return cls.to_dtype(_aten.floor.default(x), dtype)

    @staticmethod
    def round_to_int(a: Any, dtype: Any) -> Any:
        """The nearest whole number, in its own dtype."""
        return _aten.round.default(a)

    @staticmethod
    def floordiv(a: Any, b: Any) -> Any:
        """The quotient, rounded down."""
        return _aten.div.Tensor_mode(a, b, rounding_mode="floor")


def _refuse(name: str) -> Any:
    def refuse(*args: Any) -> Any:
        raise NotImplementedError(f"{name}: no operator does this")

    return staticmethod(refuse)


for _name in ("mod", "int_truediv", "truncdiv", "round_decimal"):
    setattr(TensorReferenceAnalysis, _name, _refuse(_name))
for _name, _place in zip(_OPERATORS.split()[::2], _OPERATORS.split()[1::2], strict=True):
    setattr(TensorReferenceAnalysis, _name, staticmethod(operator.attrgetter(_place)(_aten)))
