"""What users call: operator overloads, and overload packets, each a C vectorcall on the object itself."""
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

cdef extern from *:
    """
    #define DISPATCH_NARGS(n) PyVectorcall_NARGS(n)
    """
    Py_ssize_t DISPATCH_NARGS(size_t n) noexcept

# Dispatch the first overload whose schema the arguments fit; `found` stays False, without an exception, when none does.
cdef PyObject* call_fitting(PyObject* packet, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, bint lone_ints, bint* found) noexcept
# Set the exception, of class `error`: the one overload's reason, or every overload's.
cdef int refuse_packet(PyObject* packet, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, PyObject* error) noexcept
cdef OpOverloadPacket find_packet(str name)
cdef object call_vector(object callee, tuple args, dict kwargs)
