"""Products of matrices over raw memory: the inner loops of numpy's matmul, which call its BLAS.

`PyUFuncObject` holds a table of inner loops by dtype; that of a gufunc gets the sizes of its core
dimensions and their steps. Where no BLAS fits (integers, odd steps) the loop multiplies by itself.
"""
from libc.stdint cimport int64_t

import numpy

from dispatch._C.dtypes cimport ST_float32, ST_float64

ctypedef void (*core_loop)(char** pointers, const Py_ssize_t* sizes, const Py_ssize_t* steps,
                           void* data) noexcept nogil

cdef extern from "numpy/ndarraytypes.h":      # what the other header is made of
    pass

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nargs, ntypes
        core_loop* functions
        void** data
        const char* types

cdef core_loop loops[3]                       # float32, float64, int64
cdef void* data[3]


cdef int find_loop(int slot, int num) except -1:
    cdef PyUFuncObject* f = <PyUFuncObject*><void*>numpy.matmul
    cdef int i
    for i in range(f.ntypes):
        if f.types[i * f.nargs] == num:
            loops[slot], data[slot] = f.functions[i], f.data[i]
            return 0
    raise ImportError("numpy's matmul has no loop for a dtype that convolutions need")


find_loop(0, numpy.dtype(numpy.float32).num)
find_loop(1, numpy.dtype(numpy.float64).num)
find_loop(2, numpy.dtype(numpy.int64).num)


cdef void product(int code, int64_t m, int64_t k, int64_t p, const void* a, int64_t a_row, int64_t a_column,
                  const void* b, int64_t b_row, int64_t b_column, void* out, int64_t out_row) noexcept nogil:
    cdef int slot = 0 if code == ST_float32 else 1 if code == ST_float64 else 2
    cdef Py_ssize_t item = 4 if slot == 0 else 8
    cdef char* pointers[3]
    cdef Py_ssize_t sizes[4]
    cdef Py_ssize_t steps[9]
    pointers[0], pointers[1], pointers[2] = <char*>a, <char*>b, <char*>out
    sizes[0], sizes[1], sizes[2], sizes[3] = 1, m, k, p
    steps[0] = steps[1] = steps[2] = 0
    steps[3], steps[4] = a_row * item, a_column * item
    steps[5], steps[6] = b_row * item, b_column * item
    steps[7], steps[8] = out_row * item, item
    loops[slot](pointers, sizes, steps, data[slot])
