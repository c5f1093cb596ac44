"""SymNode, and what makes and reads one in C."""
from dispatch.symbolic.core cimport Core
from dispatch.symbolic.expr cimport Expr

cdef class SymNode:
    cdef Expr c_expr                     # as it was made: `expr` has replacements in it
    cdef readonly object shape_env
    cdef readonly int c_kind             # K_INT ...: what Python type it stands for
    cdef object c_hint                   # given by hand; None: the expression's
    cdef public object constant          # the number, of a node made from a literal
    cdef public object fx_node

cdef dict METHODS                        # what an operation is called on a node that is not ours
cdef Expr expr_of(SymNode n)             # with replacements
cdef SymNode new_node(Expr e, Core env, int kind)
cdef int remainder_of(int op, Expr a, Expr b) except -1       # OP_MOD where neither is known to be negative
cdef int result_kind(int op, int a, int b) noexcept
