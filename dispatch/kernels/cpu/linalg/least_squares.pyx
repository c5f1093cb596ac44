"""LAPACK's least squares on batches of matrices: gels, gelsy, gelss and gelsd.

Every array is contiguous and has a batch dimension: a matrix of m rows and n columns is a block of
shape (n, m), which is LAPACK's order of columns. `lapack` finds the routines.
"""
from libc.stdlib cimport free
cimport numpy as cnp

from dispatch.kernels.cpu.linalg.blocks cimport COMPLEX, DOUBLE, SINGLE, ZOMPLEX, width
from dispatch.kernels.cpu.linalg.lapack cimport Batch, address_of, end_alone, is_alone, size_of, space

cnp.import_array()

ctypedef void (*gels_fn)(char*, int*, int*, int*, void*, int*, void*, int*, void*, int*,
                         int*) noexcept nogil
ctypedef void (*gelsy_fn)(int*, int*, int*, void*, int*, void*, int*, int*, void*, int*, void*,
                          int*, int*) noexcept nogil
ctypedef void (*zgelsy_fn)(int*, int*, int*, void*, int*, void*, int*, int*, void*, int*, void*,
                           int*, void*, int*) noexcept nogil
ctypedef void (*gelss_fn)(int*, int*, int*, void*, int*, void*, int*, void*, void*, int*, void*,
                          int*, int*) noexcept nogil
ctypedef void (*zgelss_fn)(int*, int*, int*, void*, int*, void*, int*, void*, void*, int*, void*,
                           int*, void*, int*) noexcept nogil
ctypedef void (*gelsd_fn)(int*, int*, int*, void*, int*, void*, int*, void*, void*, int*, void*,
                          int*, int*, int*) noexcept nogil
ctypedef void (*zgelsd_fn)(int*, int*, int*, void*, int*, void*, int*, void*, void*, int*, void*,
                           int*, void*, int*, int*) noexcept nogil

cdef struct Call:
    void* f
    int kind
    char driver                              # the last letter of the routine's name
    Batch a, b, s                            # s without data: singular values are not wanted
    int nrhs
    double rcond[1]
    void* work
    void* real_work
    int* int_work                            # the columns' order of gelsy, the work space of gelsd
    int size


cdef tuple DRIVERS = ("gels", "gelsy", "gelss", "gelsd")
cdef void* found[4][4]                       # by driver and kind; NULL: not looked for yet
cdef dict KINDS = {cnp.NPY_FLOAT: SINGLE, cnp.NPY_DOUBLE: DOUBLE, cnp.NPY_CFLOAT: COMPLEX, cnp.NPY_CDOUBLE: ZOMPLEX}


cdef Batch batch(cnp.ndarray a):
    """An array of shape (batch, columns, rows), or (batch, rows)."""
    cdef Batch b
    assert cnp.PyArray_IS_C_CONTIGUOUS(a)
    b.data = <char*>cnp.PyArray_DATA(a)
    b.rows = <int>a.shape[a.ndim - 1]
    b.columns = <int>a.shape[1] if a.ndim == 3 else 1
    b.step = <size_t>a.itemsize * b.rows * b.columns
    return b


cdef int* ints(cnp.ndarray a):
    assert cnp.PyArray_IS_C_CONTIGUOUS(a)
    return <int*>cnp.PyArray_DATA(a)


cdef void call(Call* c, Py_ssize_t i, int* rank, int* info) noexcept nogil:
    """Solve the i-th system, or ask for the size of the work space."""
    cdef int m = c.a.rows, n = c.a.columns
    cdef char no = b"N"
    cdef void* a = c.a.data + i * c.a.step
    cdef void* b = c.b.data + i * c.b.step
    cdef void* s = c.s.data + i * c.s.step
    if c.driver == b"s":
        (<gels_fn>c.f)(&no, &m, &n, &c.nrhs, a, &m, b, &c.b.rows, c.work, &c.size, info)
    elif c.driver == b"y" and c.kind < COMPLEX:
        (<gelsy_fn>c.f)(&m, &n, &c.nrhs, a, &m, b, &c.b.rows, c.int_work, c.rcond, rank, c.work,
                        &c.size, info)
    elif c.driver == b"y":
        (<zgelsy_fn>c.f)(&m, &n, &c.nrhs, a, &m, b, &c.b.rows, c.int_work, c.rcond, rank, c.work,
                         &c.size, c.real_work, info)
    elif c.driver == b"S" and c.kind < COMPLEX:
        (<gelss_fn>c.f)(&m, &n, &c.nrhs, a, &m, b, &c.b.rows, s, c.rcond, rank, c.work, &c.size,
                        info)
    elif c.driver == b"S":
        (<zgelss_fn>c.f)(&m, &n, &c.nrhs, a, &m, b, &c.b.rows, s, c.rcond, rank, c.work, &c.size,
                         c.real_work, info)
    elif c.kind < COMPLEX:
        (<gelsd_fn>c.f)(&m, &n, &c.nrhs, a, &m, b, &c.b.rows, s, c.rcond, rank, c.work, &c.size,
                        c.int_work, info)
    else:
        (<zgelsd_fn>c.f)(&m, &n, &c.nrhs, a, &m, b, &c.b.rows, s, c.rcond, rank, c.work, &c.size,
                         c.real_work, c.int_work, info)


def solve(str driver, cnp.ndarray a not None, cnp.ndarray b not None, cnp.ndarray s not None, cnp.ndarray rank not None,
          double rcond, cnp.ndarray info not None):
    """Least squares of `a` x = `b`; `b` has max(m, n) rows and becomes the solution.

    `rank` and the singular values `s` are filled by the drivers that find them.
    """
    cdef Call c
    cdef char query[16]
    cdef char real_query[8]
    cdef int int_query[1]
    cdef int* ranks = ints(rank)
    cdef int* state = ints(info)
    cdef int m, n, place = DRIVERS.index(driver)
    cdef bint alone
    cdef Py_ssize_t i, j, count = a.shape[0]
    c.kind, c.driver = KINDS[cnp.PyArray_TYPE(a)], b"sySd"[place]
    c.a, c.b, c.s = batch(a), batch(b), batch(s)
    c.nrhs = c.b.columns
    m, n = c.a.rows, c.a.columns
    if found[place][c.kind] == NULL:
        found[place][c.kind] = address_of(c.kind, driver)
    c.f = found[place][c.kind]
    c.rcond[0] = rcond
    if c.kind == SINGLE or c.kind == COMPLEX:
        (<float*>c.rcond)[0] = <float>rcond
    c.work, c.real_work, c.int_work, c.size = query, real_query, int_query, -1
    int_query[0] = 1
    call(&c, 0, ranks, state)
    c.size = size_of(c.kind, query)
    # gelsd says how much it needs beside; the others are in LAPACK's manual.
    cdef size_t reals = max(2 * n, 5 * min(m, n)), integers = n
    if c.driver == b"d":
        integers = max(integers, <size_t>max(int_query[0], 1))
        if c.kind >= COMPLEX:
            reals = max(reals, <size_t>size_of(c.kind & 1, real_query))
    c.work = space(c.size * width(c.kind))
    c.real_work = space(reals * width(c.kind & 1))
    c.int_work = <int*>space(integers * sizeof(int))
    with nogil:
        alone = is_alone(&c.a)
        for i in range(count):
            for j in range(<Py_ssize_t>integers):
                c.int_work[j] = 0
            call(&c, i, ranks + i, state + i)
        end_alone(alone)
    free(c.work)
    free(c.real_work)
    free(c.int_work)
