"""Products of matrices over raw memory: the inner loops of numpy's matmul, which call its BLAS.

`PyUFuncObject` holds a table of inner loops by dtype; that of a gufunc gets the sizes of its core
dimensions and their steps. Where no BLAS fits (integers, odd steps) the loop multiplies by itself.
Products of few rows whose operands lie along the inner dimension are made here (`thin.h`).
A large product is cut into strips that the threads of this package share, each of which calls BLAS
for itself: BLAS's own would look out for their next product for 40 ms, on a processor that others need.
"""
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy

import numpy

from dispatch._C.dtypes cimport ST_float32, ST_float64
from dispatch.kernels.cpu.threads cimport begin_one_blas_thread, end_one_blas_thread, in_blas_spans, is_in_a_part, parts_for

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

cdef enum:
    SLOTS = 5
cdef tuple KINDS = (numpy.float32, numpy.float64, numpy.int64, numpy.complex64, numpy.complex128)
cdef inner_loop loops[SLOTS]
cdef void* data[SLOTS]
cdef int ITEMS[SLOTS]
ITEMS[0], ITEMS[1], ITEMS[2], ITEMS[3], ITEMS[4] = 4, 8, 8, 8, 16


cdef int find_loop(object ufunc, int num, inner_loop* loop, void** data) except -1:
    cdef PyUFuncObject* f = <PyUFuncObject*><void*>ufunc
    cdef int i
    for i in range(f.ntypes):
        if f.types[i * f.nargs] == num:
            loop[0], data[0] = f.functions[i], f.data[i] if f.data != NULL else NULL
            return 0
    raise ImportError(f"numpy's {ufunc.__name__} has no loop for a dtype that kernels need")


for _slot in range(SLOTS):
    find_loop(numpy.matmul, numpy.dtype(KINDS[_slot]).num, &loops[_slot], &data[_slot])


cdef bint is_made_here(int64_t m, int64_t k, int64_t a_column, int64_t b_row) noexcept nogil:
    return is_thin(m, k, a_column, b_row)


cdef enum:
    BLAS_ALONE = 1 << 18         # multiplications that BLAS leaves to one thread
    STRIP = 1024                 # rows or columns whose arithmetic hides that each strip copies the other operand

cdef struct Product:
    int slot
    int64_t m, k, p, a_row, a_column, b_row, b_column, out_row      # steps in bytes
    char* a
    char* b
    char* out
    int64_t unit                 # rows, or columns, that are not cut
    bint by_columns


cdef void multiply(const Product* j) noexcept nogil:
    cdef char* pointers[3]
    cdef Py_ssize_t sizes[4]
    cdef Py_ssize_t steps[9]
    pointers[0], pointers[1], pointers[2] = j.a, j.b, j.out
    sizes[0], sizes[1], sizes[2], sizes[3] = 1, j.m, j.k, j.p
    steps[0] = steps[1] = steps[2] = 0
    steps[3], steps[4], steps[5], steps[6] = j.a_row, j.a_column, j.b_row, j.b_column
    steps[7], steps[8] = j.out_row, ITEMS[j.slot]
    loops[j.slot](pointers, sizes, steps, data[j.slot])


cdef void multiply_strip(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Product j = (<Product*>context)[0]
    first *= j.unit
    if j.by_columns:
        j.p = min(end * j.unit, j.p) - first
        j.b += first * j.b_column
        j.out += first * ITEMS[j.slot]
    else:
        j.m = min(end * j.unit, j.m) - first
        j.a += first * j.a_row
        j.out += first * j.out_row
    multiply(&j)


cdef void multiply_large(Product* j) noexcept nogil:
    """Strips of the longer side."""
    cdef int64_t long_side = max(j.m, j.p), work = j.m * j.p * j.k, units, parts
    cdef bint told
    j.by_columns = j.p > j.m
    j.unit = 16 if long_side >= 64 else 1
    units = (long_side + j.unit - 1) // j.unit
    parts = parts_for(units, work * 4 if j.m == 1 or j.p == 1 else work // 2)     # a vector's are as slow as memory
    if parts > 1:
        in_blas_spans(multiply_strip, j, units, parts * max(1, min(4, long_side // (STRIP * parts))))
        return
    told = begin_one_blas_thread()
    multiply(j)
    if told:
        end_one_blas_thread()


cdef void product(int code, int64_t m, int64_t k, int64_t p, const void* a, int64_t a_row, int64_t a_column,
                  const void* b, int64_t b_row, int64_t b_column, void* out, int64_t out_row) noexcept nogil:
    cdef int slot = 0 if code == ST_float32 else 1 if code == ST_float64 else 2
    cdef Py_ssize_t item = ITEMS[slot]
    cdef Product j
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
    j.slot, j.m, j.k, j.p = slot, m, k, p
    j.a, j.b, j.out = <char*>a, <char*>b, <char*>out
    j.a_row, j.a_column, j.out_row = a_row * item, a_column * item, out_row * item
    j.b_row, j.b_column = b_row * item, b_column * item
    if slot < 2 and m * k * p > BLAS_ALONE and not is_in_a_part():
        multiply_large(&j)
    else:
        multiply(&j)


cdef int read_array(object array, char** at, int64_t* row, int64_t* column) except -1:
    at[0] = <char*><uintptr_t>array.__array_interface__["data"][0]
    row[0], column[0] = array.strides
    return 0


cdef object shared(object left, object right, int slot):
    """A large product of two matrices of one dtype."""
    cdef Product j
    cdef int64_t column
    out = numpy.empty((left.shape[0], right.shape[1]), left.dtype)
    j.slot, j.m, j.k, j.p = slot, left.shape[0], left.shape[1], right.shape[1]
    read_array(left, &j.a, &j.a_row, &j.a_column)
    read_array(right, &j.b, &j.b_row, &j.b_column)
    read_array(out, &j.out, &j.out_row, &column)
    with nogil:
        multiply_large(&j)
    return out


def matmul(left, right):
    """numpy's; threads share large products of matrices for which it has BLAS."""
    cdef int slot
    if left.ndim == 2 and right.ndim == 2 and left.dtype == right.dtype and left.flags.aligned and right.flags.aligned \
            and left.shape[1] == right.shape[0] and left.size * right.shape[1] > BLAS_ALONE:
        for slot in range(SLOTS):
            if slot != 2 and left.dtype == KINDS[slot]:
                return shared(left, right, slot)
    return numpy.matmul(left, right)
