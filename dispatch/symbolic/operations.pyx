# cython: nonecheck=True, boundscheck=True
"""The operations of expressions: their names, their kinds, and what they give on numbers.

The lowest module of the room. `value_of` is Python's arithmetic: hints, constants and points at which an expression is
evaluated all go through it, so that a symbolic program and its run on plain numbers cannot differ.
"""
import math
import operator

cdef enum:
    MOST_BITS = 1 << 16                  # of a number that a power or a shift gives

NAMES = {
    OP_ADD: "Add", OP_MUL: "Mul", OP_POW: "Pow", OP_FLOORDIV: "FloorDiv", OP_CLEANDIV: "CleanDiv", OP_MOD: "Mod",
    OP_PYTHONMOD: "PythonMod",
    OP_MIN: "Min", OP_MAX: "Max", OP_ABS: "Abs", OP_POWBYNATURAL: "PowByNatural",
    OP_EQ: "Eq", OP_NE: "Ne", OP_LT: "Lt", OP_LE: "Le", OP_GT: "Gt", OP_GE: "Ge", OP_AND: "And", OP_OR: "Or", OP_NOT: "Not",
    OP_TOFLOAT: "ToFloat", OP_INTTRUEDIV: "IntTrueDiv", OP_FLOATTRUEDIV: "FloatTrueDiv", OP_FLOATPOW: "FloatPow",
    OP_TRUNCTOINT: "TruncToInt", OP_CEILTOINT: "CeilToInt", OP_FLOORTOINT: "FloorToInt", OP_ROUNDTOINT: "RoundToInt",
    OP_ROUNDDECIMAL: "RoundDecimal", OP_TRUNCTOFLOAT: "TruncToFloat", OP_FLOOR: "floor", OP_CEILING: "ceiling",
    OP_PIECEWISE: "Piecewise",
    OP_BITAND: "BitwiseFn_bitwise_and", OP_BITOR: "BitwiseFn_bitwise_or", OP_BITXOR: "BitwiseFn_bitwise_xor",
    OP_INDICATOR: "IsNonOverlappingAndDenseIndicator", OP_MODULARINDEXING: "ModularIndexing", OP_LSHIFT: "LShift",
    OP_RSHIFT: "RShift",
    OP_SQRT: "OpaqueUnaryFn_sqrt", OP_COS: "OpaqueUnaryFn_cos", OP_COSH: "OpaqueUnaryFn_cosh", OP_SIN: "OpaqueUnaryFn_sin",
    OP_SINH: "OpaqueUnaryFn_sinh", OP_TAN: "OpaqueUnaryFn_tan", OP_TANH: "OpaqueUnaryFn_tanh", OP_ASIN: "OpaqueUnaryFn_asin",
    OP_ACOS: "OpaqueUnaryFn_acos", OP_ATAN: "OpaqueUnaryFn_atan", OP_EXP: "OpaqueUnaryFn_exp", OP_LOG: "OpaqueUnaryFn_log",
    OP_ASINH: "OpaqueUnaryFn_asinh", OP_LOG2: "OpaqueUnaryFn_log2",
}  # fmt: skip
OPS = {name: op for op, name in NAMES.items()}


cdef object _indicator(list values):
    """1 where some order of the dimensions makes them contiguous."""
    cdef Py_ssize_t half = len(values) // 2
    sizes, strides = values[:half], values[half:]
    if half == 1:
        return int(strides[0] == 1 or sizes[0] < 2)
    expected = 1
    for stride, size in sorted(zip(strides, sizes), key=lambda pair: pair[0]):
        if size == 1:
            continue
        if stride != expected:
            return 0
        expected *= size
    return 1


def _real(value):
    if isinstance(value, complex):
        raise ValueError("a negative number to a power that is not whole")
    return value


def _raised(base, exponent):
    """base ** exponent, but no number that takes seconds to work out."""
    if type(base) is int and type(exponent) is int and exponent * base.bit_length() > MOST_BITS and abs(base) > 1:
        raise OverflowError(f"{base}**{exponent} is too large")
    return base ** exponent


def _shifted_left(value, by):
    if value and by > MOST_BITS:
        raise OverflowError(f"{value} << {by} is too large")
    return value << by


_FUNCTIONS = {
    OP_POW: _raised, OP_FLOORDIV: operator.floordiv, OP_CLEANDIV: operator.floordiv, OP_MOD: operator.mod,
    OP_PYTHONMOD: operator.mod,
    OP_REMAINDER: operator.mod, OP_ABS: abs, OP_POWBYNATURAL: _raised, OP_EQ: operator.eq, OP_NE: operator.ne,
    OP_LT: operator.lt,
    OP_LE: operator.le, OP_GT: operator.gt, OP_GE: operator.ge, OP_NOT: operator.not_, OP_TOFLOAT: float,
    OP_INTTRUEDIV: operator.truediv,
    OP_FLOATTRUEDIV: operator.truediv, OP_FLOATPOW: lambda a, b: _real(operator.pow(float(a), float(b))),
    OP_TRUNCTOINT: math.trunc, OP_CEILTOINT: math.ceil,
    OP_FLOORTOINT: math.floor, OP_ROUNDTOINT: round, OP_ROUNDDECIMAL: lambda x, n: round(float(x), n),
    OP_TRUNCTOFLOAT: lambda x: float(math.trunc(x)), OP_FLOOR: math.floor, OP_CEILING: math.ceil,
    OP_PIECEWISE: lambda value, condition, otherwise: value if condition else otherwise,
    OP_BITAND: operator.and_, OP_BITOR: operator.or_, OP_BITXOR: operator.xor, OP_MODULARINDEXING: lambda a, b, c: (a // b) % c,
    OP_SUB: operator.sub, OP_NEG: operator.neg, OP_LSHIFT: _shifted_left, OP_RSHIFT: operator.rshift,
    **{op: getattr(math, NAMES[op].rpartition("_")[2]) for op in range(OP_SQRT, OP_LOG2 + 1)},
}  # fmt: skip


cdef object value_of(int op, list values):
    if op == OP_ADD:
        return sum(values)
    if op == OP_MUL:
        return math.prod(values)
    if op == OP_MIN:
        return min(values)
    if op == OP_MAX:
        return max(values)
    if op == OP_AND:
        return all(values)
    if op == OP_OR:
        return any(values)
    if op == OP_INDICATOR:
        return _indicator(values)
    return _FUNCTIONS[op](*values)


cdef int kind_of(int op, int first, int other) noexcept:
    if OP_EQ <= op <= OP_NOT:
        return K_BOOL
    if OP_TOFLOAT <= op <= OP_FLOATPOW or op == OP_ROUNDDECIMAL or op == OP_TRUNCTOFLOAT or OP_SQRT <= op <= OP_LOG2:
        return K_FLOAT
    if op in (OP_TRUNCTOINT, OP_CEILTOINT, OP_FLOORTOINT, OP_ROUNDTOINT, OP_FLOOR, OP_CEILING, OP_INDICATOR):
        return K_INT
    if op in (OP_BITAND, OP_BITOR, OP_BITXOR) and first == K_BOOL and other == K_BOOL:
        return K_BOOL
    return K_FLOAT if first == K_FLOAT or other == K_FLOAT else K_BOOL if op == OP_PIECEWISE and first == K_BOOL else K_INT
