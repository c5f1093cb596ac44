"""Refusals of calls in few words: which overloads were meant, what is wrong with one, what to do about a device."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry

# Those that a call may have meant; `names`: keywords.
cdef list overloads_meant(list entries, PyObject** args, Py_ssize_t nargs, tuple names)
cdef object refuse_overload(OperatorEntry e, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, error)  # raises
cdef str advice(str name)                                                       # a line, or ""
