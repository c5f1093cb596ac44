# cython: nonecheck=True, boundscheck=True
"""Intervals: what an operation can give when its arguments lie between bounds.

Called for each node when its range is first asked for, and again after a guard. The result always contains every value that the
operation can take (held up by a property test); where a function has no rule, everything.
"""
import math

from dispatch.symbolic.operations cimport *

cdef double INF = math.inf
cdef tuple EVERYTHING = (-INF, INF)
cdef tuple EITHER = (False, True)
cdef tuple YES = (True, True)
cdef tuple NO = (False, False)


cdef bint infinite(x) noexcept:
    return type(x) is float and (<double>x == INF or <double>x == -INF)


cdef tuple intersection(tuple a, tuple b):
    return (a[0] if a[0] >= b[0] else b[0], a[1] if a[1] <= b[1] else b[1])


cdef object times(a, b):
    """With 0 * inf = 0."""
    return 0 if a == 0 or b == 0 else a * b


cdef tuple ends(list products):
    return (min(products), max(products))


cdef tuple product(tuple a, tuple b):
    if a[0] >= 0 and b[0] >= 0:
        return (times(a[0], b[0]), times(a[1], b[1]))
    return ends([times(a[0], b[0]), times(a[0], b[1]), times(a[1], b[0]), times(a[1], b[1])])


cdef object divided(a, b, bint floored):
    """a / b with infinities; b is not 0."""
    if infinite(a):
        return (INF if (a > 0) == (b > 0) else -INF) if not infinite(b) else 0 if (a > 0) == (b > 0) else -1 if floored else 0
    if infinite(b):
        return -1 if floored and a != 0 and (a > 0) != (b > 0) else 0
    if floored:
        return a // b
    try:
        return a / b
    except OverflowError:
        return INF if (a > 0) == (b > 0) else -INF


cdef tuple quotient(tuple a, tuple b, bint floored):
    if b[0] <= 0 <= b[1]:
        if not floored:
            return EVERYTHING
        # a division by 0 raises, so it has no value
        if b[0] == 0 and b[1] == 0:
            return EVERYTHING
        if b[0] == 0:
            b = (1, b[1])
        elif b[1] == 0:
            b = (b[0], -1)
        else:
            most = max(abs(a[0]), abs(a[1]))
            return (-most, most)
    parts = [divided(x, y, floored) for x in a for y in b]
    if (infinite(a[0]) or infinite(a[1])) and (infinite(b[0]) or infinite(b[1])):
        # inf / inf takes every value from 0 to inf
        parts.append(0)
        if infinite(a[1]):
            parts.append(INF if b[0] > 0 else -INF)
        if infinite(a[0]):
            parts.append(-INF if b[0] > 0 else INF)
        if floored and (a[0] < 0) == (b[0] > 0):
            parts.append(-1)
    return ends(parts)


cdef tuple remainder(tuple a, tuple b, object step):
    """Of the divisor's sign, as Python's, and `step` less than it: 1 of whole numbers, 0 of floats."""
    if b[0] > 0:
        if a[0] >= 0 and a[1] < b[0]:
            return a
        if b[0] == b[1] and not infinite(a[0]) and not infinite(a[1]) and a[0] // b[0] == a[1] // b[0]:
            return (a[0] % b[0], a[1] % b[0])
        return (0, min(a[1], b[1] - step) if a[0] >= 0 else b[1] - step)
    if b[1] < 0:
        return (b[0] + step, 0)
    return (b[0] + step if b[0] < 0 else 0, (min(a[1], b[1] - step) if a[0] >= 0 else b[1] - step) if b[1] > 0 else 0)


cdef object raised_to(base, exponent):
    if exponent == 0:
        return 1
    if infinite(base) or infinite(exponent):
        if abs(base) <= 1:
            return base
        return INF if base > 0 or (not infinite(exponent) and exponent % 2 == 0) else -INF
    if abs(base) > 1 and exponent * math.log2(abs(base)) > 4096:
        return INF if base > 0 or exponent % 2 == 0 else -INF
    return base ** exponent


cdef tuple power(tuple a, tuple b):
    """An exponent below 0 does not occur."""
    b = (max(b[0], 0), max(b[1], 0))
    if b[0] == b[1]:
        n = b[0]
        low, high = raised_to(a[0], n), raised_to(a[1], n)
        if infinite(n) or n % 2 == 1 or a[0] >= 0:
            return (low, high) if not infinite(n) else EVERYTHING
        return (0 if a[0] <= 0 <= a[1] else min(low, high), max(low, high))
    if a[0] >= 1:
        return (raised_to(a[0], b[0]), raised_to(a[1], b[1]))
    if a[0] >= 0:
        return (0, max(1, raised_to(a[1], b[1])))
    most = max(1, raised_to(max(abs(a[0]), abs(a[1])), b[1]))
    return (-most, most)


cdef tuple compared(int op, tuple a, tuple b):
    if op == OP_GT or op == OP_GE:
        a, b, op = b, a, OP_LT if op == OP_GT else OP_LE
    if op == OP_LT:
        return YES if a[1] < b[0] else NO if a[0] >= b[1] else EITHER
    if op == OP_LE:
        return YES if a[1] <= b[0] else NO if a[0] > b[1] else EITHER
    equal = YES if a[0] == a[1] == b[0] == b[1] and not infinite(a[0]) else NO if a[0] > b[1] or b[0] > a[1] else EITHER
    return equal if op == OP_EQ else (not equal[1], not equal[0])


cdef tuple mapped(int op, tuple a):
    """Of a function that never falls."""
    return tuple([x if infinite(x) else value_of(op, [x]) for x in a])


cdef tuple rounded(tuple a, digits):
    return tuple([x if infinite(x) else round(float(x), digits) for x in a])


cdef tuple bitwise(int op, tuple a, tuple b):
    a, b = (int(a[0]) if a[0] is False or a[0] is True else a[0], int(a[1]) if a[1] is False or a[1] is True else a[1]), b
    b = (int(b[0]) if b[0] is False or b[0] is True else b[0], int(b[1]) if b[1] is False or b[1] is True else b[1])
    if a[0] == a[1] and b[0] == b[1] and not infinite(a[0]) and not infinite(b[0]):
        value = value_of(op, [a[0], b[0]])
        return (value, value)
    if op == OP_BITAND:
        low = min(a[0], b[0])
        low = 0 if a[0] >= 0 or b[0] >= 0 else low if infinite(low) else -(1 << int(-low - 1).bit_length())
        return (low, min(a[1], b[1]) if a[0] >= 0 and b[0] >= 0 else max(a[1], b[1]))
    top = max(a[1], b[1])
    high = top if infinite(top) else (1 << int(top).bit_length()) - 1 if top > 0 else 0 if top == 0 else -1
    if op == OP_BITOR:
        return (max(a[0], b[0]) if a[0] >= 0 and b[0] >= 0 else min(a[0], b[0]), high)
    return (0, high) if a[0] >= 0 and b[0] >= 0 else EVERYTHING


cdef tuple bounds_of(int op, list of, bint whole):
    cdef tuple a = of[0], r
    if op == OP_ADD:
        low, high = a
        for r in of[1:]:
            low, high = low + r[0], high + r[1]
        return (low, high)
    if op == OP_MUL:
        for r in of[1:]:
            a = product(a, r)
        return a
    if op == OP_POW or op == OP_POWBYNATURAL:
        return power(a, of[1])
    if op == OP_FLOORDIV or op == OP_CLEANDIV:
        return quotient(a, of[1], True)
    if op == OP_MOD or op == OP_PYTHONMOD:
        return remainder(a, of[1], 1 if whole else 0)
    if op == OP_MIN:
        return (min([r[0] for r in of]), min([r[1] for r in of]))
    if op == OP_MAX:
        return (max([r[0] for r in of]), max([r[1] for r in of]))
    if op == OP_ABS:
        return a if a[0] >= 0 else (-a[1], -a[0]) if a[1] <= 0 else (0 if whole else 0.0, max(-a[0], a[1]))
    if is_relation(op):
        return compared(op, a, of[1])
    if op == OP_AND:
        return (all([r[0] for r in of]), all([r[1] for r in of]))
    if op == OP_OR:
        return (any([r[0] for r in of]), any([r[1] for r in of]))
    if op == OP_NOT:
        return (not a[1], not a[0])
    if op == OP_TOFLOAT or (OP_TRUNCTOINT <= op <= OP_CEILING and op != OP_ROUNDDECIMAL):
        return mapped(op, a)
    if op == OP_INTTRUEDIV or op == OP_FLOATTRUEDIV:
        return quotient(a, of[1], False)
    if op == OP_ROUNDDECIMAL:
        return rounded(a, of[1][0]) if of[1][0] == of[1][1] else EVERYTHING
    if op == OP_PIECEWISE:
        return a if of[1] == YES else of[2] if of[1] == NO else (min(a[0], of[2][0]), max(a[1], of[2][1]))
    if op == OP_BITAND or op == OP_BITOR or op == OP_BITXOR:
        return bitwise(op, a, of[1])
    if op == OP_INDICATOR:
        return (0, 1)
    if op == OP_MODULARINDEXING:
        return remainder(quotient(a, of[1], True), of[2], 1)
    if op == OP_SQRT:
        return mapped(op, a) if a[0] >= 0 else EVERYTHING
    if op == OP_LOG or op == OP_LOG2:
        return mapped(op, a) if a[0] > 0 else EVERYTHING
    if op == OP_COS or op == OP_SIN:
        return (-1.0, 1.0)
    if op == OP_COSH:
        return (0.0, INF)
    return EVERYTHING
