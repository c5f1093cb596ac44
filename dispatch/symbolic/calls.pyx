# cython: nonecheck=True, boundscheck=True
"""Fills in `symbolic_calls`: what shape functions in C ask of sizes that are expressions.

Handles come in and go out; each function is one look-up in a table and a call of `core` or of the table itself.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.references cimport give, set_error
from dispatch._C.symbolic cimport (
    NK_BOOL, NK_FLOAT, NK_INT, NK_NONE, SIZE_ERROR, SZ_MAX, is_symbolic, plain_size, symbolic_calls,
)
from dispatch.symbolic.core cimport Core
from dispatch.symbolic.expr cimport Expr, Table, get_node, hint_of, is_positive
from dispatch.symbolic.node cimport SymNode, expr_of, remainder_of
from dispatch.symbolic.numbers cimport SymBool, SymFloat, SymInt, SymNumber, wrapped
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.rules cimport replaced

cdef int[7] OPERATIONS = [OP_ADD, OP_SUB, OP_MUL, OP_FLOORDIV, OP_REMAINDER, OP_MIN, OP_MAX]


cdef Expr node_of(int64_t v, Table table):
    return replaced(get_node(v)) if is_symbolic(v) else table.number(v)


cdef Core core_of(int64_t a, int64_t b):
    cdef Expr e = get_node(a if is_symbolic(a) else b)
    if e.table.owner == NULL:
        raise RuntimeError("a symbolic size is used after its ShapeEnv is gone")
    return <Core>e.table.owner


cdef int64_t handle_of(Expr e) except? SIZE_ERROR:
    return plain_size(e.value) if e.op == OP_NUMBER else e.handle


cdef int64_t binary(int operation, int64_t a, int64_t b) except? SIZE_ERROR:
    cdef Table t = core_of(a, b).table
    cdef Expr x = node_of(a, t), y = node_of(b, t)
    if operation == SZ_MAX and b == 1 and x.op == OP_SYMBOL and is_positive(x):
        return x.handle                  # what strides are made of
    return handle_of(t.binary(remainder_of(OPERATIONS[operation], x, y), x, y))


cdef int compare(int question, int comparison, int64_t a, int64_t b) except -1:
    cdef Core env = core_of(a, b)
    cdef Table t = env.table
    if not is_symbolic(a):                   # as Python does, whose numbers leave it to the other side
        return env.ask(question, t.binary(mirrored(OP_EQ + comparison), node_of(b, t), node_of(a, t)))
    return env.ask(question, t.binary(OP_EQ + comparison, node_of(a, t), node_of(b, t)))


cdef int64_t guard_int(int64_t v) except? SIZE_ERROR:
    return int(core_of(v, v).value(get_node(v), None, False))


cdef int64_t hint(int64_t v, int64_t otherwise) except? SIZE_ERROR:
    found = hint_of(replaced(get_node(v)))
    return otherwise if found is None else found


cdef PyObject* to_object(int64_t v) except NULL:
    cdef Core env = core_of(v, v)
    cdef Expr e = replaced(get_node(v))
    return give(e.value if e.op == OP_NUMBER else wrapped(e, env, K_INT))


cdef int64_t from_object(PyObject* o) except? SIZE_ERROR:
    cdef Expr e
    node = (<SymNumber>o).node
    if type(node) is not SymNode:
        if not isinstance(<object>o, SymInt):
            raise TypeError("only an integer of another kind of node stands for a size")
        return node.guard_int("", 0)
    e = expr_of(<SymNode>node)
    return handle_of(e) if e.kind == K_INT else e.handle


cdef bint is_number(PyObject* o) noexcept:
    return isinstance(<object>o, SymInt)


cdef int number_kind(PyObject* o) noexcept:
    if isinstance(<object>o, SymInt):
        return NK_INT
    if isinstance(<object>o, SymFloat):
        return NK_FLOAT
    return NK_BOOL if isinstance(<object>o, SymBool) else NK_NONE


cdef PyObject* env_of(int64_t v) except NULL:
    return <PyObject*>core_of(v, v).table.owner


symbolic_calls.binary = <int64_t (*)(int, int64_t, int64_t)>binary
symbolic_calls.compare = <int (*)(int, int, int64_t, int64_t)>compare
symbolic_calls.guard_int = <int64_t (*)(int64_t)>guard_int
symbolic_calls.hint = <int64_t (*)(int64_t, int64_t)>hint
symbolic_calls.to_object = <PyObject* (*)(int64_t)>to_object
symbolic_calls.from_object = <int64_t (*)(PyObject*)>from_object
symbolic_calls.is_number = is_number
symbolic_calls.number_kind = number_kind
symbolic_calls.env_of = <PyObject* (*)(int64_t)>env_of
