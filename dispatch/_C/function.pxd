"""Operators as functions and methods: `TypeError` for arguments that fit no overload."""
from cpython.object cimport PyObject

from dispatch._C.overload cimport OpOverloadPacket
from dispatch._C.python_api cimport vectorcall_fn

cdef class OpFunction:
    """An operator packet as a function or method."""
    cdef vectorcall_fn vectorcall
    cdef readonly str __name__
    cdef OpOverloadPacket packet
    cdef list entries                  # the overloads that are functions or methods, in the order in which they are tried
    cdef bint moves_self               # the method's self is the second argument of the schema (`where`)
    cdef bint is_method
    cdef bint packs                    # no overload takes an int where lists of ints may be spelled out (`x.view(2, 3)`)
    cdef bint in_room                  # of `linalg`, `special` ...: every overload is a function there
    cdef int how                       # AskFlag
