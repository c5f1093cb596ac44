"""The operations of expressions: what a node is. `names` are sympy's and PyTorch's, as expressions print and parse."""

cdef enum Op:
    OP_NUMBER, OP_BOOL, OP_SYMBOL
    OP_ADD, OP_MUL, OP_POW
    OP_FLOORDIV, OP_CLEANDIV, OP_MOD, OP_PYTHONMOD, OP_MIN, OP_MAX, OP_ABS, OP_POWBYNATURAL
    OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE
    OP_AND, OP_OR, OP_NOT
    OP_TOFLOAT, OP_INTTRUEDIV, OP_FLOATTRUEDIV, OP_FLOATPOW
    OP_TRUNCTOINT, OP_CEILTOINT, OP_FLOORTOINT, OP_ROUNDTOINT, OP_ROUNDDECIMAL, OP_TRUNCTOFLOAT, OP_FLOOR, OP_CEILING
    OP_PIECEWISE                     # (value, condition, otherwise)
    OP_BITAND, OP_BITOR, OP_BITXOR
    OP_INDICATOR                     # IsNonOverlappingAndDenseIndicator(*sizes, *strides)
    OP_MODULARINDEXING
    OP_SQRT, OP_COS, OP_COSH, OP_SIN, OP_SINH, OP_TAN, OP_TANH, OP_ASIN, OP_ACOS, OP_ATAN, OP_EXP, OP_LOG, OP_ASINH, OP_LOG2
    OP_SUB, OP_NEG, OP_LSHIFT, OP_RSHIFT, OP_REMAINDER    # asked for, never a node: they become others
    OP_COUNT

cdef enum Kind:
    K_INT, K_FLOAT, K_BOOL

cdef dict NAMES                      # op -> name
cdef dict OPS                        # name -> op
cdef object value_of(int op, list values)        # on numbers, as Python has it; ZeroDivisionError and the like
cdef int kind_of(int op, int first, int other) noexcept    # of the result, by the kinds of the arguments


cdef inline bint is_relation(int op) noexcept:
    return OP_EQ <= op <= OP_GE


cdef inline bint is_unary(int op) noexcept:
    return OP_SQRT <= op <= OP_LOG2 or op == OP_NEG or op == OP_ABS or op == OP_NOT or op == OP_TOFLOAT or (
        OP_TRUNCTOINT <= op <= OP_CEILING and op != OP_ROUNDDECIMAL)


cdef inline bint takes(int op, Py_ssize_t n) noexcept:
    """Whether the operation has that many arguments."""
    if op in (OP_ADD, OP_MUL, OP_MIN, OP_MAX, OP_AND, OP_OR):
        return n > 0
    if op == OP_INDICATOR:
        return n > 0 and n % 2 == 0
    return n == (1 if is_unary(op) else 3 if op == OP_PIECEWISE or op == OP_MODULARINDEXING else 2)


cdef inline int negated(int op) noexcept:
    """not (a op b)"""
    if op == OP_EQ or op == OP_NE:
        return OP_NE if op == OP_EQ else OP_EQ
    return OP_GE if op == OP_LT else OP_GT if op == OP_LE else OP_LE if op == OP_GT else OP_LT


cdef inline int mirrored(int op) noexcept:
    """b op a"""
    return OP_GT if op == OP_LT else OP_GE if op == OP_LE else OP_LT if op == OP_GT else OP_LE if op == OP_GE else op
