"""Calling operators from composite kernels in Cython, through the dispatcher.

A kernel module keeps a `Callee` for each operator that it calls; entries are looked up when first
needed, so that importing a kernel module makes no operator.
"""
from cpython.object cimport PyObject

from dispatch._C.dispatcher cimport call_boxed, need_entry
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.values cimport Py_DECREF_

cdef extern from "Python.h":
    PyObject* PyErr_Occurred_ "PyErr_Occurred"() noexcept


cdef class Callee:
    cdef object call(self, tuple given):
        cdef PyObject* args[64]
        cdef PyObject* result
        cdef int i, n = <int>len(given)
        if self.entry is None or not self.entry.defined:
            self.entry = need_entry("aten::" + self.name, self.overload)
        for i in range(self.entry.sig.n_args):
            args[i] = <PyObject*>given[i] if i < n else self.entry.sig.args[i].dflt
        result = call_boxed(self.entry, args)
        if result == NULL:
            raise_set()
        found = <object>result
        Py_DECREF_(result)
        return found


cdef int raise_set() except -1:
    if PyErr_Occurred_() == NULL:
        raise SystemError("a kernel returned NULL without setting an exception")
    return -1


cdef Callee callee(str name, str overload=""):
    cdef Callee c = Callee.__new__(Callee)
    c.name = name
    c.overload = overload
    return c
