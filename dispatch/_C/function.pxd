"""Operators as functions and methods: `TypeError` for arguments that fit no overload."""
from cpython.object cimport PyObject

from dispatch._C.overload cimport OpOverloadPacket, vectorcall_fn

cdef class OpFunction:
    """An operator packet as a function or method."""
    cdef vectorcall_fn vectorcall
    cdef readonly str __name__
    cdef OpOverloadPacket packet
    cdef bint is_method
