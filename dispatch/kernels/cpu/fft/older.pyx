"""Inner loops of Fourier transforms where numpy has none to lend: numpy 1 transforms whole arrays of float64.

`transforms` takes them when it finds no loops of numpy 2. A call copies its lines into an array and what comes of them out of
another, and holds the interpreter's lock meanwhile.
"""
from libc.stdint cimport int64_t, uintptr_t

import numpy

cdef object execute = None       # (array, is real, is forward, factor) -> array, along the last dimension


cdef inner_loop find_older() except NULL:
    global execute
    from numpy.fft import _pocketfft_internal
    execute = _pocketfft_internal.execute
    return transform_older


cdef void transform_older(char** pointers, const Py_ssize_t* sizes, const Py_ssize_t* steps, void* data) noexcept nogil:
    with gil:
        transform_lines(pointers, sizes, steps, <int><uintptr_t>data)


cdef int transform_lines(char** pointers, const Py_ssize_t* sizes, const Py_ssize_t* steps, int how) except -1:
    cdef bint is_double = how & OLDER_DOUBLE != 0
    cdef Py_ssize_t count = sizes[0], n_out = sizes[2]
    cdef Py_ssize_t n = sizes[1] if how & OLDER_HALF else n_out               # of the whole lines
    cdef Py_ssize_t known = min(sizes[1], n // 2 + 1 if how & OLDER_REAL else n)      # the rest is zeros
    cdef int parts_in = 1 if how & OLDER_HALF else 2, parts_out = 1 if how & OLDER_REAL else 2
    cdef double factor = (<double*>pointers[1])[0] if is_double else (<float*>pointers[1])[0]
    lines = numpy.zeros((count, n), numpy.float64 if how & OLDER_HALF else numpy.complex128)
    cdef double* given = address_of(lines)
    cdef double* found
    cdef Py_ssize_t i, k
    for i in range(count):
        for k in range(known):
            load(pointers[0] + i * steps[0] + k * steps[3], given + (i * n + k) * parts_in, parts_in, is_double)
    made = execute(lines, how & (OLDER_HALF | OLDER_REAL) != 0, how & OLDER_FORWARD != 0, factor)
    found = address_of(made)
    for i in range(count):
        for k in range(n_out):
            store(found + (i * n_out + k) * parts_out, pointers[2] + i * steps[2] + k * steps[4], parts_out, is_double)
    return 0


cdef double* address_of(object array) except NULL:
    return <double*><uintptr_t>array.__array_interface__["data"][0]


cdef inline void load(const char* from_, double* to, int parts, bint is_double) noexcept nogil:
    cdef int c
    for c in range(parts):
        to[c] = (<const double*>from_)[c] if is_double else (<const float*>from_)[c]


cdef inline void store(const double* from_, char* to, int parts, bint is_double) noexcept nogil:
    cdef int c
    for c in range(parts):
        if is_double:
            (<double*>to)[c] = from_[c]
        else:
            (<float*>to)[c] = <float>from_[c]
