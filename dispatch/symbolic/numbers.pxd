"""SymInt, SymFloat and SymBool."""
from dispatch.symbolic.core cimport Core
from dispatch.symbolic.expr cimport Expr

cdef class SymNumber:
    cdef public object node              # a SymNode, or any object with its methods

cdef class SymInt(SymNumber):
    pass

cdef class SymFloat(SymNumber):
    pass

cdef class SymBool(SymNumber):
    pass

cdef object wrapped(Expr e, Core env, int kind)               # a program's number
