"""SymInt, SymFloat and SymBool."""
from dispatch.symbolic.core cimport Core
from dispatch.symbolic.expr cimport Expr

cdef class SymNumber:
    cdef public object node              # a SymNode, or any object with its methods

cdef class SymReal(SymNumber):
    cdef Py_hash_t hashed(self) except? -1

cdef class SymInt(SymReal):
    pass

cdef class SymFloat(SymReal):
    pass

cdef class SymBool(SymNumber):
    pass

cdef object wrapped(Expr e, Core env, int kind)               # a program's number
