"""Arguments of kernels that read and write bytes."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry

# The arguments without symbolic numbers, which guards make plain; RuntimeError for a tensor that has them. `keep` owns what is
# made.
cdef int plain_arguments(OperatorEntry e, PyObject** args, PyObject** plain, list keep) except -1
