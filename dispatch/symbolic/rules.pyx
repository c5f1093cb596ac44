# cython: nonecheck=True, boundscheck=True
"""The normal form of everything that is no sum or product: divisions, comparisons, logic, conversions.

Behaviour: torch.utils._sympy.functions and sympy's relations, so far as whole numbers and floats of sizes need them. A rule may
use only what always holds (`always`), never what a guard has taught. `Table.build` comes here; results of one and the same
arguments are one node.
"""
import math

from libc.stdint cimport int64_t

from dispatch._C.stack cimport check_depth
from dispatch.symbolic cimport expr
from dispatch.symbolic.division cimport divided_exactly
from dispatch.symbolic.expr cimport Expr, Table, always, substituted
from dispatch.symbolic.operations cimport *

cdef double INF = math.inf


cdef Expr rule_of(Table t, int op, list args):
    cdef Expr a = args[0]
    cdef Expr b = args[1] if len(args) > 1 else a
    if op == OP_FLOORDIV or op == OP_CLEANDIV:
        return floordiv(t, a, b)
    if op == OP_REMAINDER:
        return remainder(t, OP_MOD if always(a)[0] >= 0 and always(b)[0] >= 0 else OP_PYTHONMOD, a, b)
    if op == OP_MOD or op == OP_PYTHONMOD:
        return remainder(t, op, a, b)
    if op == OP_MIN or op == OP_MAX:
        return extreme(t, op, args)
    if is_relation(op):
        return relation(t, op, a, b)
    if op == OP_AND or op == OP_OR:
        return joined(t, op, args)
    if op == OP_NOT:
        return opposite(t, a)
    if op == OP_POW or op == OP_POWBYNATURAL:
        return natural_power(t, a, b)
    if op == OP_LSHIFT or op == OP_RSHIFT:
        if always(b)[1] < 0:
            raise ValueError("negative shift count")
        b = natural_power(t, t.number(2), b)
        return t.product_of([a, b]) if op == OP_LSHIFT else floordiv(t, a, b)
    if op == OP_PIECEWISE:
        return args[0] if b is t.true or args[0] is args[2] else args[2] if b is t.false else t.intern(op, tuple(args), a.kind)
    if op == OP_ABS:
        return absolute(t, a)
    if (op == OP_INTTRUEDIV or op == OP_FLOATTRUEDIV) and b.op == OP_NUMBER and b.value == 0:
        raise ZeroDivisionError("division by zero")
    if op == OP_INDICATOR:
        return indicator(t, args)
    return function(t, op, args)


expr.rules = rule_of


cdef Expr function(Table t, int op, list args):
    """One that is worked out on numbers alone."""
    cdef Expr e, other = args[1] if len(args) > 1 else args[0]
    cdef int kind = kind_of(op, (<Expr>args[0]).kind, other.kind)
    if op in (OP_FLOOR, OP_CEILING, OP_FLOORTOINT, OP_CEILTOINT, OP_TRUNCTOINT, OP_ROUNDTOINT) and other.kind == K_INT:
        return other
    if all([(<Expr>e).op == OP_NUMBER or (<Expr>e).op == OP_BOOL for e in args]):
        if kind == K_BOOL:
            return t.boolean(value_of(op, [e.value for e in args]))
        return t.number(value_of(op, [e.value for e in args]))
    if op == OP_BITAND or op == OP_BITOR or op == OP_BITXOR:
        args = [t.number(int(e.value)) if e.op == OP_BOOL else e for e in args]
        if op != OP_BITXOR and args[0] is args[1]:
            return args[0]
    return t.intern(op, tuple(args), kind)


cdef Expr natural_power(Table t, Expr base, Expr exponent):
    if exponent.op == OP_NUMBER:
        if exponent.value < 0:
            raise ValueError("Exponent must be non-negative.")
        return t.power(base, exponent.value)
    if base.op == OP_NUMBER and base.value == 1:
        return base
    return t.intern(OP_POWBYNATURAL, (base, exponent), base.kind)


cdef Expr absolute(Table t, Expr a):
    if a.op == OP_NUMBER:
        return t.number(abs(a.value))
    if always(a)[0] >= 0:
        return a
    if always(a)[1] <= 0:
        return t.scaled(a, -1)
    if a.rest is not None:
        return t.scaled(absolute(t, a.rest), abs(a.coeff))
    if a.op == OP_ADD and leading(a).coeff < 0:
        a = t.scaled(a, -1)
    return t.intern(OP_ABS, (a,), a.kind)


cdef Expr leading(Expr e):
    """The term whose sign is that of a sum: of the oldest rest, so that it is the same for e and -e."""
    cdef Expr term, rest, found = None
    cdef int64_t oldest = 0
    for term in (e.args if e.op == OP_ADD else (e,)):
        rest = term if term.rest is None else term.rest
        if term.op != OP_NUMBER and (found is None or rest.handle < oldest):
            found, oldest = term, rest.handle
    return found


# --- division


cdef object content(Expr e):
    """The largest number that divides every term."""
    found = 0
    for term in (e.args if e.op == OP_ADD else (e,)):
        number = (<Expr>term).value if (<Expr>term).op == OP_NUMBER else (<Expr>term).coeff
        if type(number) is not int:
            return 1
        found = math.gcd(found, number)
        if found == 1:
            break
    return found


cdef list factors(Expr e):
    """Of a product; a power counts once."""
    return [f for f in (e.args if e.op == OP_MUL else (e,)) if (<Expr>f).op != OP_NUMBER]


cdef Expr floordiv(Table t, Expr a, Expr b):
    cdef Expr quotient, whole, base
    if b.op == OP_NUMBER and b.value == 0:
        raise ZeroDivisionError("division by zero")
    if a.op == OP_NUMBER and (a.value == 0 or b.op == OP_NUMBER):
        return t.number(a.value // b.value if b.op == OP_NUMBER else 0)
    if b.op == OP_NUMBER and (b.value == 1 or b.value == -1):
        return t.scaled(a, b.value)
    if a is b:
        return t.number(1)
    if a.op == OP_FLOORDIV and always(b)[0] >= 1:        # by less than 0, what the first one rounds down would go up
        return floordiv(t, a.args[0], t.product_of([a.args[1], b]))
    if b.op == OP_NUMBER:
        # (x + y) // b is x // b + y / b where b divides y
        exact = [divided_exactly(<Expr>term, b) for term in (a.args if a.op == OP_ADD else (a,))]
        if any([x is not None for x in exact]):
            left = [term for term, x in zip(a.args if a.op == OP_ADD else (a,), exact) if x is None]
            exact = [x for x in exact if x is not None]
            return t.sum_of([floordiv(t, t.sum_of(left), b), *exact] if left else exact)
    common = math.gcd(content(a), content(b))
    if common > 1:
        return floordiv(t, divided_exactly(a, t.number(common)), divided_exactly(b, t.number(common)))
    for f in factors(b):
        base = divided_exactly(a, <Expr>f)
        if base is not None:
            return floordiv(t, base, divided_exactly(b, <Expr>f))
    if b.op == OP_ADD:
        quotient = divided_exactly(a, b)
        if quotient is not None:
            return quotient
        for f in factors(a):
            base = divided_exactly(b, <Expr>f)
            if base is not None:
                return floordiv(t, divided_exactly(a, <Expr>f), base)
    return t.intern(OP_FLOORDIV, (a, b), K_INT)


cdef Expr remainder(Table t, int op, Expr a, Expr b):
    cdef Expr gap
    if b.op == OP_NUMBER and b.value == 0:
        raise ZeroDivisionError("Modulo by zero")
    if a.op == OP_NUMBER and b.op == OP_NUMBER:
        return t.number(a.value % b.value)
    if (a.op == OP_NUMBER and a.value == 0) or a is b or (b.op == OP_NUMBER and (b.value == 1 or b.value == -1)):
        return t.number(0)
    if divided_exactly(a, b) is not None:
        return t.number(0)
    if b.op == OP_NUMBER and b.value == 2 and a.op == OP_ADD:
        # odd or even is known when all terms but the number are even
        gap = a.args[0]
        if gap.op == OP_NUMBER and gap.value % 2 and divided_exactly(t.sum_of([a, t.number(-1)]), b) is not None:
            return t.number(1)
    if b.op != OP_NUMBER and always(a)[0] > 0:
        gap = t.sum_of([b, t.scaled(a, -1)])
        if always(gap)[0] > 0:
            return a
    return t.intern(op, (a, b), kind_of(op, a.kind, b.kind))


# --- min and max


cdef Expr extreme(Table t, int op, list args):
    cdef Expr e, number = None
    cdef list found = []
    cdef set seen = set()
    cdef bint floats = False
    cdef int dual = OP_MIN
    if op == OP_MIN:
        dual = OP_MAX
    for e in args:
        floats |= e.kind == K_FLOAT
        for x in (e.args if e.op == op else (e,)):
            if (<Expr>x).op == OP_NUMBER:
                if number is None or ((<Expr>x).value > number.value) == (op == OP_MAX):
                    number = x
            elif x not in seen:
                seen.add(x)
                found.append(x)
    for e in args:
        if e.kind == K_BOOL and not floats:
            raise ValueError(f"The argument '{e}' is not comparable.")
    if len(found) > 1:
        # of Min(x, Max(x, y)) the second says nothing
        found = [x for x in found if (<Expr>x).op != dual or not any([y in (<Expr>x).args for y in found])]
    if number is not None and found:
        if all([(always(<Expr>x)[0] >= number.value) if op == OP_MAX else (always(<Expr>x)[1] <= number.value) for x in found]):
            number = None
        elif any([(always(<Expr>x)[0] >= number.value) if op == OP_MAX else (always(<Expr>x)[1] <= number.value) for x in found]):
            number = None
        elif all([(always(<Expr>x)[0] >= number.value) if op == OP_MIN else (always(<Expr>x)[1] <= number.value) for x in found]):
            return number
    if number is not None:
        found.insert(0, t.number(float(number.value)) if floats else number)
    elif len(found) == 2:
        e = collapsed(op, found[0], found[1])
        if e is not None:
            return e
    if len(found) == 1:
        return found[0]
    return t.intern(op, tuple(expr.ordered(found)), K_FLOAT if floats else K_INT)


cdef object collapsed(int op, Expr a, Expr b):
    """Which of 2*x and 3*x it is, when the sign of x is known."""
    cdef Expr rest = a if a.rest is None else a.rest
    if rest is not (b if b.rest is None else b.rest):
        return None
    if always(rest)[0] >= 0:
        return a if (a.coeff > b.coeff) == (op == OP_MAX) else b
    if always(rest)[1] <= 0:
        return a if (a.coeff < b.coeff) == (op == OP_MAX) else b
    return None


# --- conditions


cdef Expr relation(Table t, int op, Expr a, Expr b):
    cdef Expr gap
    cdef tuple r
    if a.op == OP_NUMBER and b.op == OP_NUMBER or a.op == OP_BOOL and b.op == OP_BOOL:
        return t.boolean(value_of(op, [a.value, b.value]))
    if a is b:
        return t.boolean(op == OP_EQ or op == OP_LE or op == OP_GE)
    if a.kind == K_BOOL or b.kind == K_BOOL:
        if op != OP_EQ and op != OP_NE:
            raise TypeError("conditions have no order")
        if a.kind != b.kind and a.op != OP_SYMBOL and b.op != OP_SYMBOL:
            return t.boolean(op == OP_NE)            # only conditions equal conditions
        return t.intern(op, (a, b), K_BOOL)
    if a.kind == K_INT and b.kind == K_INT:
        gap = t.difference(a, b)
        r = always(gap)
        if op == OP_EQ or op == OP_NE:
            if gap.op == OP_NUMBER or r[0] > 0 or r[1] < 0:
                return t.boolean((gap.op == OP_NUMBER and gap.value == 0) == (op == OP_EQ))
        elif op == OP_LT or op == OP_GE:
            if r[1] < 0 or r[0] >= 0:
                return t.boolean((r[1] < 0) == (op == OP_LT))
        elif r[1] <= 0 or r[0] > 0:
            return t.boolean((r[1] <= 0) == (op == OP_LE))
    return t.intern(op, (a, b), K_BOOL)


cdef Expr opposite(Table t, Expr a):
    cdef Expr found
    if a.op == OP_BOOL:
        return t.boolean(not a.value)
    if a.op == OP_NOT:
        return a.args[0]
    if is_relation(a.op) and (<Expr>a.args[0]).kind != K_BOOL:
        found = t.intern(negated(a.op), a.args, K_BOOL)         # what never decides the one never decides the other
        if found.condition is None and a.condition is not None:
            found.condition = turned_round(a.condition)
        return found
    if a.kind != K_BOOL:
        raise TypeError(f"not a condition: {a}")
    return t.intern(OP_NOT, (a,), K_BOOL)


cdef Expr joined(Table t, int op, list args):
    """and, or: flat, each condition once."""
    cdef list found = []
    cdef Expr e, neutral = t.true if op == OP_AND else t.false
    cdef Expr final = t.false if op == OP_AND else t.true
    for e in args:
        for x in (e.args if e.op == op else (e,)):
            if x is final:
                return final
            if x is not neutral and x not in found and turned(t, <Expr>x) not in found:
                found.append(x)
    for x in found:
        other = opposite(t, <Expr>x)
        if other in found or turned(t, other) in found:
            return final
    if not found:
        return neutral
    if len(found) == 1:
        return found[0]
    return t.intern(op, tuple(expr.ordered(found)), K_BOOL)


cdef Expr turned(Table t, Expr e):
    """b > a for a < b, and the like."""
    return t.intern(mirrored(e.op), (e.args[1], e.args[0]), K_BOOL) if is_relation(e.op) else e


cdef Expr indicator(Table t, list args):
    """Whether sizes and strides are those of a tensor without gaps; the largest dimension may be any size."""
    cdef Py_ssize_t half = len(args) // 2
    sizes, strides = args[:half], args[half:]
    if half == 1:
        if strides[0] is t.number(1) or ((<Expr>sizes[0]).op == OP_NUMBER and (<Expr>sizes[0]).value < 2):
            return t.number(1)
    if all([(<Expr>s).op == OP_NUMBER for s in strides]):
        pairs = sorted(zip([(<Expr>s).value for s in strides], range(half)))
        order = [sizes[i] for _, i in pairs]
        if all([(<Expr>s).op == OP_NUMBER for s in order[:half - 1]]):
            values = [(<Expr>s).value for s in order[:half - 1]] + [42]
            return t.number(value_of(OP_INDICATOR, values + [stride for stride, _ in pairs]))
    return t.intern(OP_INDICATOR, tuple(args), K_INT)


# --- sums of products


cdef Expr expand(Expr e):
    cdef Table t = e.table
    cdef Expr found
    if e.expanded is None:
        if not e.args:
            return e
        check_depth(" in an expression")
        args = [expand(<Expr>a) for a in e.args]
        found = e if all([x is y for x, y in zip(args, e.args)]) else t.build(e.op, args)
        if found is not e:
            found = expand(found)
        elif e.op == OP_POW and (<Expr>e.args[0]).op == OP_ADD and (<Expr>e.args[1]).value <= 16:
            found = multiplied(t, [e.args[0]] * (<Expr>e.args[1]).value)
        elif e.op == OP_MUL and any([(<Expr>a).op == OP_ADD for a in e.args]):
            found = expand(multiplied(t, list(e.args)))
        e.expanded = e if found is e else found
    return e.expanded


cdef Expr multiplied(Table t, list parts):
    """The product of sums, term by term."""
    cdef list terms = [t.number(1)]
    for p in parts:
        terms = [t.product_of([a, b]) for a in terms for b in ((<Expr>p).args if (<Expr>p).op == OP_ADD else (p,))]
        if len(terms) > 1:
            whole = t.sum_of(terms)
            terms = list((<Expr>whole).args) if (<Expr>whole).op == OP_ADD else [whole]
    return t.sum_of(terms)


cdef Expr target_of(Expr s):
    cdef Expr found
    if s.target is None:
        return s
    found = replaced(s.target)
    if found is not s.target:
        s.target = found
    return found


cdef Expr replaced(Expr e):
    cdef Table t = e.table
    cdef dict rule
    if t.replacements == 0 or e.replaced_state == t.replacements or not e.free_symbols:
        return e if e.replaced is None else e.replaced
    check_depth(" in a replacement")
    rule = None
    for s in e.free_symbols:
        if (<Expr>s).target is not None:
            if rule is None:
                rule = {}
            rule[s] = target_of(<Expr>s)
    e.replaced = None if rule is None else expand(substituted(e, rule, {}))
    if e.replaced is e:
        e.replaced = None
    e.replaced_state = t.replacements
    return e if e.replaced is None else e.replaced


cdef tuple form_of(Expr e):
    cdef Table t = e.table
    cdef Expr rest
    number = 0
    if e.op == OP_NUMBER:
        return (None, 1, e.value)
    if e.op == OP_ADD and (<Expr>e.args[0]).op == OP_NUMBER:
        number = (<Expr>e.args[0]).value
        e = t.sum_of(list(e.args[1:]))
    factor = content(e)
    if leading(e).coeff < 0:
        factor = -factor
    rest = e if factor == 1 else divided_exactly(e, t.number(factor))
    return (rest, factor, number)


cdef Condition turned_round(Condition c):
    """Of the opposite."""
    cdef Condition found = Condition.__new__(Condition)
    found.form, found.relation, found.bound = c.form, negated(c.relation), c.bound
    if c.relation == OP_LE:
        found.relation, found.bound = OP_GE, c.bound + 1
    elif c.relation == OP_GE:
        found.relation, found.bound = OP_LE, c.bound - 1
    return found


cdef Condition condition_of(Expr e):
    cdef Condition found = Condition.__new__(Condition)
    cdef Table t = e.table
    cdef int op = e.op
    found.form, factor, number = form_of(expand(t.difference(e.args[0], e.args[1])))
    if found.form is None:
        found.relation = OP_EQ if value_of(op, [number, 0]) else OP_NE
    elif op == OP_EQ or op == OP_NE:
        found.relation, found.bound = op, -number // factor
        if number % factor:
            found.form, found.relation = None, negated(op)
    else:
        # strict ones become LE and GE, and a negative factor turns them round
        if op == OP_LT:
            op, number = OP_LE, number + 1
        elif op == OP_GT:
            op, number = OP_GE, number - 1
        if factor < 0:
            factor, number, op = -factor, -number, mirrored(op)
        found.relation = op
        found.bound = (-number) // factor if op == OP_LE else -(number // factor)
    return found
