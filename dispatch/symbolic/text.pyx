# cython: nonecheck=True, boundscheck=True
"""Expressions as text, letter for letter as sympy prints them, terms in sympy's order.

Comes in through `expr.hooks`. Terms of a sum go by the powers of its factors, the factors by their kind and name; what binds
less than its surroundings stands in brackets, and a floor division always does.
"""
from dispatch._C.stack cimport check_depth
from dispatch.symbolic.expr cimport Expr, always, hooks
from dispatch.symbolic.operations cimport *

cdef enum Binding:
    B_OR = 20
    B_AND = 30
    B_FUNCTION = 35
    B_BITOR = 36
    B_BITXOR = 37
    B_BITAND = 38
    B_ADD = 40
    B_MUL = 50
    B_POW = 60
    B_NOT = 100
    B_ATOM = 1000

cdef dict _BINDING = {
    OP_FLOORDIV: B_FUNCTION, OP_CLEANDIV: B_FUNCTION, OP_MOD: B_FUNCTION, OP_PYTHONMOD: B_FUNCTION, OP_INTTRUEDIV: B_FUNCTION,
    OP_FLOATTRUEDIV: B_FUNCTION, OP_FLOATPOW: B_POW, OP_POWBYNATURAL: B_MUL, OP_MODULARINDEXING: B_FUNCTION, OP_POW: B_POW,
    OP_ADD: B_ADD, OP_BITAND: B_BITAND, OP_BITOR: B_BITOR, OP_BITXOR: B_BITXOR, OP_NOT: B_NOT, OP_AND: B_AND, OP_OR: B_OR,
}  # fmt: skip
cdef dict _SIGNS = {OP_LT: "<", OP_LE: "<=", OP_GT: ">", OP_GE: ">="}
cdef dict _CLASSES = {OP_LT: "StrictLessThan", OP_LE: "LessThan", OP_GT: "StrictGreaterThan", OP_GE: "GreaterThan",
        OP_EQ: "Equality",
                      OP_NE: "Unequality"}


cdef bint has_minus(Expr e):
    """Whether a minus sign can be taken out: of a number or a product."""
    if e.op == OP_NUMBER:
        return e.value < 0
    return e.op == OP_MUL and e.coeff < 0


cdef int binding(Expr e) except -1:
    if e.op == OP_NUMBER:
        return B_ADD if e.value < 0 else B_ATOM
    if e.op == OP_MUL:
        return B_ADD if e.coeff < 0 else B_MUL
    if is_relation(e.op):
        return B_ATOM if e.op == OP_EQ or e.op == OP_NE else B_FUNCTION
    return _BINDING.get(e.op, B_ATOM)


cdef str within(Expr e, int level, bint strict=False):
    """In brackets where it binds less than `level` (or not more, unless strict)."""
    cdef int own = binding(e)
    text = printed(e, False)
    return f"({text})" if own < level or (not strict and own <= level) else text


cdef str number_text(object value, bint alone):
    if type(value) is int:
        return str(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "oo" if value > 0 else "-oo"
    mantissa, mark, exponent = f"{value:.15g}".partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if alone:
        mantissa = mantissa.ljust(16 + mantissa.startswith(("-", "0.")) + mantissa.startswith("-0."), "0")
    return mantissa + (f"e{int(exponent):+d}" if mark else "")


# --- order


cdef tuple class_key(Expr e):
    if e.op == OP_NUMBER:
        return (1, 0, "Number")
    if e.op == OP_SYMBOL:
        return (2, 0, "Symbol")
    if e.op == OP_MUL:
        return (3, 0, "Mul")
    if e.op == OP_ADD:
        return (3, 1, "Add")
    if e.op == OP_POW:
        return (3, 2, "Pow")
    if e.op == OP_MIN or e.op == OP_MAX or e.kind == K_BOOL or e.op == OP_PIECEWISE:
        return (5, 0, _CLASSES.get(e.op, NAMES.get(e.op, "Boolean")))
    return (4, 0 if e.op == OP_INDICATOR else 10000, NAMES[e.op])


cdef tuple _ONE = ((1, 0, "Number"), (0, ()), (), 1)


cdef tuple sort_key(Expr e):
    """sympy's: by class, arguments, exponent, coefficient."""
    if e.order is None:
        e.order = made_key(e)
    return e.order


cdef tuple made_key(Expr e):
    cdef Expr rest = e if e.rest is None else e.rest
    if e.op == OP_NUMBER:
        return (class_key(e), (0, ()), (), e.value)
    exponent = _ONE
    if rest.op == OP_POW:
        exponent = sort_key(rest.args[1])
        rest = rest.args[0]
    if rest.op == OP_SYMBOL or rest.op == OP_BOOL:
        args = (str(rest.value),)
    else:
        check_depth(" while an expression is printed")
        args = tuple([sort_key(<Expr>a) for a in (terms_of(rest) if rest.op == OP_ADD else factors_of(rest) if rest.op == OP_MUL
                else rest.args)])
    return (class_key(rest), (len(args), args), exponent, e.coeff)


cdef list factors_of(Expr product):
    return sorted(product.args, key=key_of)


def key_of(Expr e not None):
    return sort_key(e)


cdef list terms_of(Expr total):
    """Highest powers first, by the order of what is raised to them."""
    cdef list found = []
    cdef Expr e, rest, f
    cdef dict powers
    cdef list rows = []
    bases = {}
    if len(total.args) == 2:
        e, rest = total.args
        if e.op == OP_NUMBER and e.value > 0 and rest.op == OP_MUL and rest.coeff < 0 and len(rest.args) == 2:
            return [e, rest]
    for e in total.args:
        powers = {}
        if e.op != OP_NUMBER:
            rest = e if e.rest is None else e.rest
            for f in (rest.args if rest.op == OP_MUL else (rest,)):
                base, power = (f.args[0], (<Expr>f.args[1]).value) if f.op == OP_POW else (f, 1)
                powers[base] = power
                bases[base] = None
        rows.append((e, powers))
    columns = sorted(bases, key=key_of)
    rows = [(tuple([-powers.get(b, 0) for b in columns]), e.value if e.op == OP_NUMBER else e.coeff, i, e) for i, (e,
            powers) in enumerate(rows)]
    rows.sort()
    return [row[3] for row in rows]


# --- text


cdef str printed(Expr e, bint alone):
    cdef Expr rest
    if e.op == OP_NUMBER:
        return number_text(e.value, alone)
    if e.op == OP_BOOL or e.op == OP_SYMBOL:
        return str(e.value)
    check_depth(" while an expression is printed")
    if e.op == OP_ADD:
        return sum_text(e)
    if e.op == OP_MUL:
        if e.coeff < 0:
            rest = e.table.scaled(e, -1)
            if rest.op != OP_MUL:
                return "-" + within(rest, B_MUL)
            return "-" + "*".join([within(<Expr>f, B_MUL) for f in factors_of(rest)])
        return "*".join([within(<Expr>f, B_MUL) for f in factors_of(e)])
    if e.op == OP_POW:
        return within(e.args[0], B_POW) + "**" + within(e.args[1], B_POW)
    if e.op == OP_FLOORDIV or e.op == OP_CLEANDIV:
        return f"({within(e.args[0], B_ATOM - 1)}//{within(e.args[1], B_ATOM - 1)})"
    if e.op == OP_EQ or e.op == OP_NE:
        return f"{NAMES[e.op]}({printed(e.args[0], False)}, {printed(e.args[1], False)})"
    if is_relation(e.op):
        return f"{within(e.args[0], B_FUNCTION)} {_SIGNS[e.op]} {within(e.args[1], B_FUNCTION)}"
    if e.op == OP_AND:
        return " & ".join([within(<Expr>a, B_BITAND) for a in sorted(e.args, key=key_of)])
    if e.op == OP_OR:
        return " | ".join([within(<Expr>a, B_BITOR) for a in sorted(e.args, key=key_of)])
    if e.op == OP_NOT:
        return "~" + within(e.args[0], B_NOT)
    if e.op == OP_PIECEWISE:
        return f"Piecewise(({printed(e.args[0], False)}, {condition_text(e.args[1])}), ({printed(e.args[2], False)}, True))"
    args = sorted(e.args, key=key_of) if e.op == OP_MIN or e.op == OP_MAX else e.args
    return f"{NAMES[e.op]}({', '.join([printed(<Expr>a, False) for a in args])})"


cdef str condition_text(Expr e):
    """Of a branch: sympy turns a comparison so that its sides are in order."""
    if is_relation(e.op) and (<Expr>e.args[1]).op != OP_NUMBER and sort_key(e.args[1]) < sort_key(e.args[0]):
        e = e.table.intern(mirrored(e.op), (e.args[1], e.args[0]), K_BOOL)
    return printed(e, False)


cdef str sum_text(Expr e):
    cdef list parts = []
    for term in terms_of(e):
        text = printed(<Expr>term, False)
        minus = text.startswith("-")
        if minus:
            text = text[1:]
        parts.append("-" if minus else "+")
        parts.append(f"({text})" if binding(<Expr>term) < B_ADD else text)
    return ("-" if parts[0] == "-" else "") + " ".join(parts[1:])


def text_of(Expr e not None):
    """An expression as sympy's `str` has it."""
    return printed(e, True)


hooks["text"] = text_of
