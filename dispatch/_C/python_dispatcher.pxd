"""The kernel at the key PythonDispatcher: each step of a call asks the overload's own table first."""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.operator cimport Kernel

cdef PyObject* call_python_dispatcher(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL
