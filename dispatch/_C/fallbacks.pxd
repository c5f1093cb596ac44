"""What the dispatcher's own kernels do, for kernels elsewhere that do it too."""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.operator cimport Kernel, OperatorEntry
from dispatch._C.tensor cimport Tensor

cdef PyObject* call_adinplace(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL     # versions and views
cdef int bump_written(OperatorEntry e, PyObject** args) except -1                # the versions of what the schema says is written
cdef bint requires_grad_somewhere(OperatorEntry e, PyObject** args) except -1    # some tensor argument requires grad
cdef int cut_off(Tensor t) except -1                                             # from its gradients, in place; a view is refused
