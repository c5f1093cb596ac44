"""Products of matrices over raw memory: the inner loops of numpy's matmul, which call its BLAS.

`PyUFuncObject` holds a table of inner loops by dtype; that of a gufunc gets the sizes of its core
dimensions and their steps. Where no BLAS fits (integers, odd steps) the loop multiplies by itself.
Products of few rows whose operands lie along the inner dimension are made here (`thin.h`).
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy

from dispatch._C.dtypes cimport ST_float32, ST_float64

cdef extern from "numpy/ndarraytypes.h":      # what the other header is made of
    pass

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nargs, ntypes
        inner_loop* functions
        void** data
        const char* types

cdef extern from "thin.h" nogil:
    bint is_thin(int64_t m, int64_t k, Py_ssize_t a_column, Py_ssize_t b_row)
    bint thin_product(int64_t m, int64_t k, int64_t n, const float* a, Py_ssize_t a_row, Py_ssize_t a_column, const float* b,
                      Py_ssize_t b_row, Py_ssize_t b_column, float* out, Py_ssize_t out_row)

cdef inner_loop loops[3]                       # float32, float64, int64
cdef void* data[3]


cdef int find_loop(object ufunc, int num, inner_loop* loop, void** data) except -1:
    cdef PyUFuncObject* f = <PyUFuncObject*><void*>ufunc
    cdef int i
    for i in range(f.ntypes):
        if f.types[i * f.nargs] == num:
            loop[0], data[0] = f.functions[i], f.data[i] if f.data != NULL else NULL
            return 0
    raise ImportError(f"numpy's {ufunc.__name__} has no loop for a dtype that kernels need")


find_loop(numpy.matmul, numpy.dtype(numpy.float32).num, &loops[0], &data[0])
find_loop(numpy.matmul, numpy.dtype(numpy.float64).num, &loops[1], &data[1])
find_loop(numpy.matmul, numpy.dtype(numpy.int64).num, &loops[2], &data[2])


cdef bint is_made_here(int64_t m, int64_t k, int64_t a_column, int64_t b_row) noexcept nogil:
    return is_thin(m, k, a_column, b_row)


cdef void product(int code, int64_t m, int64_t k, int64_t p, const void* a, int64_t a_row, int64_t a_column,
                  const void* b, int64_t b_row, int64_t b_column, void* out, int64_t out_row) noexcept nogil:
    cdef int slot = 0 if code == ST_float32 else 1 if code == ST_float64 else 2
    cdef Py_ssize_t item = 4 if slot == 0 else 8
    cdef char* pointers[3]
    cdef Py_ssize_t sizes[4]
    cdef Py_ssize_t steps[9]
    cdef char copy[1 << 13]
    if slot == 0 and thin_product(m, k, p, <const float*>a, a_row, a_column, <const float*>b, b_row, b_column, <float*>out,
                                  out_row):
        return
    if a == b and m == p and a_row == b_column and a_column == b_row and m * k * item <= <int64_t>sizeof(copy) \
            and (a_column == 1 and a_row == k or a_row == 1 and a_column == m):
        memcpy(copy, a, m * k * item)        # for the next reason; a second call would take longer
        a = copy
    elif a == b and m == p and 1 < k < m and a_row == b_column and a_column == b_row:
        # numpy would have BLAS make a triangle, and copy it element by element: that takes longer than the other half
        product(code, m - 1, k, p, a, a_row, a_column, b, b_row, b_column, out, out_row)
        product(code, 1, k, p, <const char*>a + (m - 1) * a_row * item, a_row, a_column, b, b_row, b_column,
                <char*>out + (m - 1) * out_row * item, out_row)
        return
    pointers[0], pointers[1], pointers[2] = <char*>a, <char*>b, <char*>out
    sizes[0], sizes[1], sizes[2], sizes[3] = 1, m, k, p
    steps[0] = steps[1] = steps[2] = 0
    steps[3], steps[4] = a_row * item, a_column * item
    steps[5], steps[6] = b_row * item, b_column * item
    steps[7], steps[8] = out_row * item, item
    loops[slot](pointers, sizes, steps, data[slot])
