"""Calling operators from composite kernels in Cython, through the dispatcher.

A kernel module keeps a `Callee` for each operator that it calls; entries are looked up when first
needed, so that importing a kernel module makes no operator.
"""
from cpython.object cimport PyObject

from libc.stdint cimport int64_t

from dispatch._C.dispatcher cimport call_boxed, need_entry
from dispatch._C.references cimport take
from dispatch._C.symbolic cimport size_object
from dispatch._C.values cimport IntArray


cdef class Callee:
    cdef object call(self, tuple given):
        cdef PyObject* args[64]
        cdef int i, n = <int>len(given)
        if self.entry is None or not self.entry.defined:
            self.entry = need_entry("aten::" + self.name, self.overload)
        for i in range(self.entry.sig.n_args):
            args[i] = <PyObject*>given[i] if i < n else self.entry.sig.args[i].dflt
        return take(call_boxed(self.entry, args))


cdef Callee callee(str name, str overload=""):
    cdef Callee c = Callee.__new__(Callee)
    c.name = name
    c.overload = overload
    return c


cdef list ints(IntArray a):
    return numbers(a.data, a.len)


cdef list numbers(const int64_t* values, Py_ssize_t n):
    return [size_object(values[i]) for i in range(n)]
