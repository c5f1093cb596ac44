"""Calling operators from composite kernels in Cython: an operator's name, and its entry once asked for."""
from libc.stdint cimport int64_t

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta.rules.sizes cimport sizes_of

cdef class Callee:
    """An operator that composite kernels call.

    `call(given)` dispatches with `given` as the first arguments of the schema, already of the
    schema's types (lists are fresh); the others take their defaults.
    """
    cdef str name, overload
    cdef OperatorEntry entry

    cdef object call(self, tuple given)

cdef Callee callee(str name, str overload=*)

# Arguments for them.
cdef list ints(IntArray a)
cdef list numbers(const int64_t* values, Py_ssize_t n)
