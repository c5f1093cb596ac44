"""What users call: operator overloads, overload packets, functions and methods, each a C vectorcall on the object itself."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry

ctypedef PyObject* (*vectorcall_fn)(PyObject*, PyObject**, size_t, PyObject*) noexcept

cdef class OperatorBase:
    cdef vectorcall_fn vectorcall
    cdef readonly dict py_kernels
    cdef readonly dict python_key_table
    cdef readonly dict functorch_table
    cdef object __weakref__

cdef class OpOverload(OperatorBase):
    cdef OperatorEntry entry
    cdef object packet                 # OpOverloadPacket, or None until asked for
    cdef dict dispatch_cache
    cdef dict attributes

cdef class OpOverloadPacket:
    cdef vectorcall_fn vectorcall
    cdef readonly str _qualified_op_name
    cdef str name                      # "add"
    cdef list overload_entries         # OperatorEntry of each overload, in order; None: look again
    cdef dict cached                   # overload attribute -> OpOverload
    cdef object __weakref__

cdef class OpFunction:
    """An operator packet as a function or method: `TypeError` for arguments that fit no overload."""
    cdef vectorcall_fn vectorcall
    cdef readonly str __name__
    cdef OpOverloadPacket packet
    cdef bint is_method
