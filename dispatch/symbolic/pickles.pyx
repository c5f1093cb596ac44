# cython: nonecheck=True, boundscheck=True
"""Nodes of two tables: expressions as rows of plain values, and back, as `pickle` writes them; whether two say the same.

Comes in through `expr.hooks`. A node is written once, arguments first, so that depth and shared parts cost nothing, and numbers
keep every digit. What is read stands in a table of its own until a ShapeEnv takes it in (`sympify`).
"""
from dispatch._C.stack cimport check_depth
from dispatch.symbolic.expr import build
from dispatch.symbolic.expr cimport Expr, Table, hooks, is_positive, sympify
from dispatch.symbolic.operations cimport *


cdef bint same(Expr a, Expr b, set known) except -1:
    """Whether nodes of two tables say the same; `known`: pairs of handles that do."""
    cdef Expr x, y
    if a.op != b.op or a.hashed != b.hashed or a.kind != b.kind or a.value != b.value or len(a.args) != len(b.args):
        return False
    if not a.args or (a.handle, b.handle) in known:
        return True
    check_depth(" while expressions are compared")
    if a.op in (OP_ADD, OP_MUL, OP_AND, OP_OR, OP_MIN, OP_MAX):
        others = {}
        for y in b.args:
            others.setdefault(y.hashed, []).append(y)
        for x in a.args:
            if not any([same(x, y, known) for y in others.get(x.hashed, ())]):
                return False
    else:
        for x, y in zip(a.args, b.args):
            if not same(x, y, known):
                return False
    known.add((a.handle, b.handle))
    return True


def compared(Expr a not None, Expr b not None):
    """Whether expressions of two tables say the same."""
    return same(a, b, set())


cdef list rows_of(Expr root):
    """The nodes of an expression, arguments first: leaves as what makes them, the others as (name, *places of arguments)."""
    cdef dict places = {}
    cdef list rows = [], todo = [root]
    cdef Expr e
    while todo:
        e = todo[len(todo) - 1]
        missing = [a for a in e.args if a not in places] if e not in places else ()
        if missing:
            todo.extend(missing)
            continue
        todo.pop()
        if e in places:
            continue
        places[e] = len(rows)
        if e.op == OP_SYMBOL:
            rows.append(("Symbol", e.value, e.kind, e.symbol_type, is_positive(e)))
        else:
            rows.append((NAMES[e.op], *[places[a] for a in e.args]) if e.args else ("Number", e.value))
    return rows


cdef Table _loose = Table()              # of expressions that were unpickled outside a ShapeEnv


def pickled(Expr e not None):
    """What `pickle` makes of an expression."""
    return _unpickled, (rows_of(e),)


def _unpickled(list rows not None):
    """An expression as it was pickled; a ShapeEnv takes it in by `sympify`."""
    global _loose
    cdef Expr s
    cdef Table table
    cdef list made = []
    if len(_loose.nodes) > 10000 or any([_clashes(*rest) for name, *rest in rows if name == "Symbol"]):
        _loose = Table()
    table = _loose
    for name, *rest in rows:
        if name == "Symbol":
            text, kind, symbol_type, positive = rest
            made.append(table.symbol(text, kind, symbol_type, positive))
        elif name == "Number":
            made.append(sympify(table, rest[0]))
        else:
            made.append(build(table, name, [made[i] for i in rest]))
    return made[len(made) - 1]


def _clashes(name, kind, symbol_type, positive):
    """Whether an unpickled expression has another symbol of this name."""
    cdef Expr s = _loose.symbols.get(name)
    return s is not None and (s.kind != kind or is_positive(s) != positive)


hooks["pickle"] = pickled
hooks["same"] = compared
