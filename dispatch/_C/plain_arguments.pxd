"""Arguments of kernels that read and write bytes."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry

# Whether there may be a symbolic number or a tensor with symbolic sizes among them. No object is made.
cdef bint has_symbols(OperatorEntry e, PyObject** args) noexcept
# The same, or read-only memory that the operator writes to.
cdef bint needs_care(OperatorEntry e, PyObject** args) noexcept
# The arguments without symbolic numbers, which guards make plain; RuntimeError for a tensor that has them and for such memory.
# `keep` owns what is made.
cdef int plain_arguments(OperatorEntry e, PyObject** args, PyObject** plain, list keep) except -1
