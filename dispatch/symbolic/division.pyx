# cython: nonecheck=True, boundscheck=True
"""Division without a remainder: what an expression is when every term has a factor, or when a sum is a multiple of another.

`rules` simplifies quotients and remainders by it, `core` solves equalities. Only the form of an expression is looked at.
"""
from dispatch.symbolic.expr cimport Expr, Table
from dispatch.symbolic.operations cimport *


cdef object divided_exactly(Expr e, Expr by):
    """e / by when every term has the factor `by`, else None."""
    cdef Table table = e.table
    cdef Expr rest
    cdef list found = [], left
    if by.op == OP_NUMBER:
        for t in (e.args if e.op == OP_ADD else (e,)):
            number = (<Expr>t).value if (<Expr>t).op == OP_NUMBER else (<Expr>t).coeff
            if type(number) is not int or number % by.value:
                return None
            rest = table.number(1) if (<Expr>t).op == OP_NUMBER else t if (<Expr>t).rest is None else (<Expr>t).rest
            found.append(table.scaled(rest, number // by.value))
        return table.sum_of(found)
    if by.op == OP_ADD:
        return _multiple(e, by)
    for t in (e.args if e.op == OP_ADD else (e,)):
        left = _factors(<Expr>t)
        for f in _factors(by):
            if (<Expr>f).op == OP_NUMBER:
                if not left or (<Expr>left[0]).op != OP_NUMBER:
                    left.insert(0, table.number(1))
                if (<Expr>left[0]).value % (<Expr>f).value:
                    return None
                left[0] = table.number((<Expr>left[0]).value // (<Expr>f).value)
            elif f in left:
                left.remove(f)
            else:
                return None
        found.append(table.product_of(left))
    return table.sum_of(found)


cdef list _factors(Expr e):
    """Of a product, powers written out, the number first."""
    cdef list found = []
    for f in (e.args if e.op == OP_MUL else (e,)):
        if (<Expr>f).op == OP_POW and (<Expr>(<Expr>f).args[1]).value <= 64:
            found.extend([(<Expr>f).args[0]] * (<Expr>(<Expr>f).args[1]).value)
        else:
            found.append(f)
    return found


cdef object _multiple(Expr e, Expr by):
    """k when e is k * by for a number k, or `by` is among the factors of e; else None."""
    cdef Table table = e.table
    cdef Expr first, other
    if e.op != OP_ADD:
        left = _factors(e)
        if by in left:
            left.remove(by)
            return table.product_of(left)
        return None
    first, other = by.args[len(by.args) - 1], e.args[len(e.args) - 1]
    a = first.value if first.op == OP_NUMBER else first.coeff
    b = other.value if other.op == OP_NUMBER else other.coeff
    if type(a) is int and type(b) is int and b % a == 0 and table.scaled(by, b // a) is e:
        return table.number(b // a)
    return None
