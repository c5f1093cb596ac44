# cython: nonecheck=True, boundscheck=True
"""What is known of an expression without a guard: the truth of a condition, the number that it can only be.

`core` asks before it guards. An answer comes from ranges, from what guards said of the same sum (`Condition`), and from divisions
written out; it is remembered in the node with the state of the table that it was found in. Nothing here learns.
"""
from dispatch._C.stack cimport check_depth
from dispatch.symbolic.bounds cimport bounds_of
from dispatch.symbolic.division cimport divided_exactly
from dispatch.symbolic.expr cimport Expr, S_SIZE, Table, range_of, substituted
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.rules cimport Condition, condition_of, expand

cdef double INF = float("inf")
cdef int eliminated = 0                  # conditions that are being written otherwise on the way to a question


cdef object known_value(Expr e):
    cdef tuple r
    if e.op == OP_NUMBER or e.op == OP_BOOL:
        return e.value
    r = range_of(e)
    if r[0] == r[1] and r[0] != INF and r[0] != -INF:
        return r[0]
    return None


cdef int decide(Expr e) except -2:
    cdef Table t = e.table
    cdef int found
    if e.op == OP_BOOL:
        return e.value
    if e.answer >= 0:
        return e.answer
    if e.static_state != t.state:
        check_depth(" in a condition")
        found = worked_out(e)
        e.static_answer, e.static_state = found, t.state
        if found >= 0:
            e.answer = found
    return e.static_answer


cdef int worked_out(Expr e) except -2:
    cdef int found, part
    cdef Expr a
    if e.op == OP_NOT:
        found = decide(e.args[0])
        return found if found < 0 else not found
    if e.op == OP_AND or e.op == OP_OR:
        found = e.op == OP_AND
        for a in e.args:
            part = decide(a)
            if part == (e.op == OP_OR):
                return part
            if part < 0:
                found = -1
        return found
    if is_relation(e.op):
        if (<Expr>e.args[0]).kind == K_BOOL:
            return -1
        found = of_bounds(bounds_of(e.op, [range_of(<Expr>e.args[0]), range_of(<Expr>e.args[1])], False))
        if found < 0 and (<Expr>e.args[0]).kind == K_INT and (<Expr>e.args[1]).kind == K_INT:
            return of_condition(e)
        return found
    return of_bounds(range_of(e))


cdef inline int of_bounds(tuple r) except -2:
    return bool(r[0]) if bool(r[0]) == bool(r[1]) else -1


cdef Condition condition(Expr e):
    if e.condition is None:
        e.condition = condition_of(e)
    return e.condition


cdef int of_condition(Expr e) except -2:
    cdef Condition c = condition(e)
    cdef Expr f = c.form, other
    cdef int found
    if f is None:
        return c.relation == OP_EQ
    found = compared(c, range_of(f))
    if found < 0 and f.excluded is not None and c.bound in f.excluded and c.relation in (OP_EQ, OP_NE):
        return c.relation == OP_NE
    if found < 0 and shared_symbols(f):
        found = compared(c, range_of(shifted(f)))
    if found < 0:
        for other in quotients(f):
            found = of_quotient(c, other)
            if found >= 0:
                return found
        if f.depth and eliminated < 4:
            return of_choices(c)
    return found


cdef int of_choices(Condition c) except -2:
    """With remainders and extremes as what the order of their arguments makes of them; with an extreme of unknown order as
    either of its arguments, if both say the same."""
    global eliminated
    cdef Expr e, chosen, whole, split = None
    cdef Table t = c.form.table
    cdef dict rule = {}
    cdef int found
    eliminated += 1
    try:
        for e in c.form.atoms():
            if e.op in (OP_MOD, OP_PYTHONMOD, OP_MIN, OP_MAX) and len(e.args) == 2:
                chosen = choice(e)
                if chosen is not None:
                    rule[e] = chosen
                elif e.op == OP_MIN or e.op == OP_MAX:
                    split = e
        whole = substituted(c.form, rule, {}) if rule else c.form
        if whole is not c.form:
            return decide(t.build(c.relation, [whole, t.number(c.bound)]))
        if split is None:
            return -1
        found = as_argument(c, split, 0)
        return found if found < 0 or found == as_argument(c, split, 1) else -1
    finally:
        eliminated -= 1


cdef int as_argument(Condition c, Expr extreme, int which) except -2:
    """With one of its arguments in the place of a Min or Max."""
    cdef Table t = c.form.table
    cdef Expr whole = substituted(c.form, {extreme: extreme.args[which]}, {})
    return decide(t.build(c.relation, [whole, t.number(c.bound)]))


cdef Expr choice(Expr e):
    """The argument that a remainder, Min or Max of two is known to be; None."""
    cdef Expr a = e.args[0], b = e.args[1]
    cdef Table t = e.table
    cdef int smaller
    if a.kind != K_INT or b.kind != K_INT:
        return None
    if e.op == OP_MOD or e.op == OP_PYTHONMOD:
        return a if range_of(a)[0] >= 0 and decide(t.build(OP_LT, [a, b])) == 1 else None
    smaller = decide(t.build(OP_LE, [a, b]))
    return None if smaller < 0 else a if (smaller == 1) == (e.op == OP_MIN) else b


cdef int compared(Condition c, tuple r) except -2:
    if c.relation == OP_LE:
        return 1 if r[1] <= c.bound else 0 if r[0] > c.bound else -1
    if c.relation == OP_GE:
        return 1 if r[0] >= c.bound else 0 if r[1] < c.bound else -1
    if r[0] == r[1] == c.bound:
        return c.relation == OP_EQ
    return c.relation == OP_NE if c.bound < r[0] or c.bound > r[1] else -1


cdef bint shared_symbols(Expr f) except -1:
    """Whether a symbol is in two terms, so that the bounds of the terms say too little."""
    cdef Py_ssize_t total = 0
    if f.op != OP_ADD:
        return False
    for term in f.args:
        total += len((<Expr>term).free_symbols)
    return total > len(f.free_symbols)


cdef Expr shifted(Expr f):
    """Over symbols that begin at 0: then signs of the terms tell more."""
    cdef Table t = f.table
    cdef Expr s, moved
    cdef dict rule = {}
    cdef tuple r
    for s in f.free_symbols:
        r = range_of(s)
        if s.kind == K_INT and r[0] != -INF and r[0] != 0:
            moved = t.symbol(f"_{s.value}_{r[0]}", K_INT, S_SIZE, False)
            moved.assumed = (0, INF)
            moved.bounds, moved.bounds_state = (0, r[1] - r[0]), 0
            rule[s] = t.sum_of([moved, t.number(r[0])])
    return expand(substituted(f, rule, {})) if rule else f


cdef list quotients(Expr f):
    """Floor divisions among the factors of the terms, by something positive."""
    found = []
    for term in (f.args if f.op == OP_ADD else (f,)):
        for x in ((<Expr>term).args if (<Expr>term).op == OP_MUL else (term,)):
            if (<Expr>x).op == OP_FLOORDIV and x not in found and range_of((<Expr>x).args[1])[0] > 0:
                found.append(x)
    return found


cdef int of_quotient(Condition c, Expr quotient) except -2:
    """With x // k written as (x - x % k) / k and everything multiplied by k."""
    global eliminated
    cdef Expr f = c.form, whole
    cdef Table t = f.table
    cdef Expr x = quotient.args[0], k = quotient.args[1]
    cdef list terms = []
    cdef int found
    remainder = t.build(OP_REMAINDER, [x, k])
    if known_value(remainder) is not None:
        remainder = t.number(known_value(remainder))
    for term in (f.args if f.op == OP_ADD else (f,)):
        rest = divided_exactly(<Expr>term, quotient)
        if rest is None:
            terms.append(t.product_of([term, k]))
        else:
            terms.append(t.product_of([rest, x]))
            terms.append(t.product_of([t.number(-1), rest, remainder]))
    terms.append(t.product_of([t.number(-c.bound), k]))
    whole = expand(t.sum_of(terms))
    if quotient in (f.args if f.op == OP_ADD else ()) and whole is f:
        return -1
    if eliminated < 4 and not quotient.free_symbols.isdisjoint(whole.free_symbols) and quotient not in whole.atoms():
        eliminated += 1
        try:
            found = decide(t.build(c.relation, [whole, t.number(0)]))
        finally:
            eliminated -= 1
        if found >= 0:
            return found
    if shared_symbols(whole):
        whole = shifted(whole)
    return of_bounds(bounds_of(c.relation, [range_of(whole), (0, 0)], True))
