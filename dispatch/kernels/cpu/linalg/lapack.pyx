"""LAPACK on batches of matrices: scipy's compiled routines, called in C without the GIL.

Called by the bodies of this family. scipy is optional: addresses are taken from the capsules of its
`cython_lapack` and `cython_blas` when a routine is first called. Every array is contiguous, of one
of the four dtypes, and has a batch dimension; a matrix of m rows and n columns is a block of shape
(n, m), which is LAPACK's order of columns. Routines write where LAPACK does; `info` has a number for
each matrix. No size is 0: callers have returned by then.
"""
from cpython.long cimport PyLong_AsVoidPtr, PyLong_FromVoidPtr
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
cimport numpy as cnp

from dispatch._C.errors cimport refused

cnp.import_array()

ctypedef void (*getrf_fn)(int*, int*, void*, int*, int*, int*) noexcept nogil
ctypedef void (*getrs_fn)(char*, int*, int*, void*, int*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*potrf_fn)(char*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*potrs_fn)(char*, int*, int*, void*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*geqrf_fn)(int*, int*, void*, int*, void*, void*, int*, int*) noexcept nogil
ctypedef void (*orgqr_fn)(int*, int*, int*, void*, int*, void*, void*, int*, int*) noexcept nogil
ctypedef void (*ormqr_fn)(char*, char*, int*, int*, int*, void*, int*, void*, void*, int*, void*,
                          int*, int*) noexcept nogil
ctypedef void (*syevd_fn)(char*, char*, int*, void*, int*, void*, void*, int*, int*, int*,
                          int*) noexcept nogil
ctypedef void (*heevd_fn)(char*, char*, int*, void*, int*, void*, void*, int*, void*, int*, int*,
                          int*, int*) noexcept nogil
ctypedef void (*geev_fn)(char*, char*, int*, void*, int*, void*, void*, void*, int*, void*, int*,
                         void*, int*, int*) noexcept nogil
ctypedef void (*zgeev_fn)(char*, char*, int*, void*, int*, void*, void*, int*, void*, int*,
                          void*, int*, void*, int*) noexcept nogil
ctypedef void (*gesdd_fn)(char*, int*, int*, void*, int*, void*, void*, int*, void*, int*,
                          void*, int*, int*, int*) noexcept nogil
ctypedef void (*zgesdd_fn)(char*, int*, int*, void*, int*, void*, void*, int*, void*, int*,
                           void*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*sytrf_fn)(char*, int*, void*, int*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*sytrs_fn)(char*, int*, int*, void*, int*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*trsm_fn)(char*, char*, char*, char*, int*, int*, void*, void*, int*, void*,
                         int*) noexcept nogil


# ---- finding routines --------------------------------------------------------------------------

cdef enum:
    SMALL = 4096                             # elements of a right side that one thread solves for

cdef dict FOUND = {}                         # name of a routine -> its address
cdef tuple LETTERS = ("s", "d", "c", "z")
cdef dict KINDS = {cnp.NPY_FLOAT: SINGLE, cnp.NPY_DOUBLE: DOUBLE,
                   cnp.NPY_CFLOAT: COMPLEX, cnp.NPY_CDOUBLE: ZOMPLEX}


cdef object load(str name):
    try:
        from scipy.linalg import cython_blas, cython_lapack
    except ImportError:
        raise refused("linear algebra on the CPU needs scipy, which is not installed: "
                      "pip install 'tensor-dispatch[linalg]'") from None
    capsule = cython_lapack.__pyx_capi__.get(name) or cython_blas.__pyx_capi__[name]
    return PyLong_FromVoidPtr(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)))


cdef void* routine(int kind, str real, str complex_=None) except NULL:
    """The address of a routine, by its name without the letter of the dtype."""
    cdef str name = LETTERS[kind] + (complex_ if complex_ and kind >= COMPLEX else real)
    address = FOUND.get(name)
    if address is None:
        address = FOUND[name] = load(name)
    return PyLong_AsVoidPtr(address)


# ---- arrays ------------------------------------------------------------------------------------

cdef int kind_of(cnp.ndarray a) except -1:
    return KINDS[cnp.PyArray_TYPE(a)]


cdef inline int check(cnp.ndarray a) except -1:
    assert cnp.PyArray_IS_C_CONTIGUOUS(a)
    return 0


cdef Batch batch(cnp.ndarray a):
    """An array of shape (batch, columns, rows), or (batch, rows)."""
    cdef Batch b
    check(a)
    b.data = <char*>cnp.PyArray_DATA(a)
    b.rows = <int>a.shape[a.ndim - 1]
    b.columns = <int>a.shape[1] if a.ndim == 3 else 1
    b.step = <size_t>a.itemsize * b.rows * b.columns
    return b


cdef int* ints(cnp.ndarray a):
    check(a)
    return <int*>cnp.PyArray_DATA(a)


cdef int size_of(int kind, void* work) noexcept nogil:
    """The size of a work space that a query has left in its first element."""
    cdef double n
    if kind == SINGLE or kind == COMPLEX:
        n = (<float*>work)[0]
        n += n * 1.2e-7                      # a size beyond 2 ** 24 was rounded
    else:
        n = (<double*>work)[0]
    return <int>n if n >= 1 else 1


cdef size_t width(int kind) noexcept nogil:
    return 4 << (kind & 1) << (kind >> 1)


cdef void* space(size_t nbytes) except NULL:
    cdef void* p = malloc(nbytes if nbytes else 1)
    if p == NULL:
        raise MemoryError
    return p


cdef void set_one(int kind, double* one) noexcept:
    """The number 1 of a dtype, real or complex."""
    one[0], one[1] = 1, 0
    if kind == SINGLE or kind == COMPLEX:
        (<float*>one)[0], (<float*>one)[1] = 1, 0


# ---- triangular factors ------------------------------------------------------------------------

def getrf(cnp.ndarray a not None, cnp.ndarray pivots not None, cnp.ndarray info not None):
    """LU factors with partial pivoting; `pivots` (batch, min(m, n)) are rows counted from 1."""
    cdef Batch b = batch(a)
    cdef int* p = ints(pivots)
    cdef int* state = ints(info)
    cdef int k = min(b.rows, b.columns)
    cdef Py_ssize_t i, n = a.shape[0]
    cdef getrf_fn f = <getrf_fn>routine(kind_of(a), "getrf")
    with nogil:
        for i in range(n):
            f(&b.rows, &b.columns, b.data + i * b.step, &b.rows, p + i * k, state + i)


cdef void exchange(Batch* y, Py_ssize_t i, const int* pivots, size_t item, bint back) noexcept nogil:
    """Exchange rows of the i-th matrix as `getrf` did, or undo it."""
    cdef char kept[16]
    cdef char* column
    cdef int c, k, row
    for c in range(y.columns):
        column = y.data + i * y.step + c * y.rows * item
        for k in range(y.rows):
            row = y.rows - 1 - k if back else k
            if pivots[row] - 1 != row and 0 < pivots[row] <= y.rows:
                memcpy(kept, column + row * item, item)
                memcpy(column + row * item, column + (pivots[row] - 1) * item, item)
                memcpy(column + (pivots[row] - 1) * item, kept, item)


cdef int solve_small(int kind, Batch* x, const int* p, Batch* y, char trans, Py_ssize_t n) except -1:
    """Two triangles one after the other: OpenBLAS's getrs wakes all its threads, however small."""
    cdef trsm_fn f = <trsm_fn>routine(kind, "trsm")
    cdef char left = b"L", low = b"L", up = b"U", unit = b"U", no = b"N"
    cdef size_t item = width(kind)
    cdef double one[2]
    cdef char* a
    cdef char* b
    cdef Py_ssize_t i
    set_one(kind, one)
    with nogil:
        for i in range(n):
            a, b = x.data + i * x.step, y.data + i * y.step
            if trans == b"N":
                exchange(y, i, p + i * x.rows, item, False)
                f(&left, &low, &trans, &unit, &y.rows, &y.columns, one, a, &x.rows, b, &y.rows)
                f(&left, &up, &trans, &no, &y.rows, &y.columns, one, a, &x.rows, b, &y.rows)
            else:
                f(&left, &up, &trans, &no, &y.rows, &y.columns, one, a, &x.rows, b, &y.rows)
                f(&left, &low, &trans, &unit, &y.rows, &y.columns, one, a, &x.rows, b, &y.rows)
                exchange(y, i, p + i * x.rows, item, True)
    return 0


def getrs(cnp.ndarray a not None, cnp.ndarray pivots not None, cnp.ndarray b not None, str trans="N"):
    """Solve with the factors of `getrf`; `trans`: N, T or C."""
    cdef Batch x = batch(a), y = batch(b)
    cdef int* p = ints(pivots)
    cdef int state
    cdef char t = <char>ord(trans)
    cdef Py_ssize_t i, n = a.shape[0]
    if <size_t>y.rows * y.columns <= SMALL:
        solve_small(kind_of(a), &x, p, &y, t, n)
        return
    cdef getrs_fn f = <getrs_fn>routine(kind_of(a), "getrs")
    with nogil:
        for i in range(n):
            f(&t, &x.rows, &y.columns, x.data + i * x.step, &x.rows, p + i * x.rows,
              y.data + i * y.step, &y.rows, &state)


def potrf(cnp.ndarray a not None, bint upper, cnp.ndarray info not None):
    """Cholesky factors, in one triangle; the other is left as it was."""
    cdef Batch b = batch(a)
    cdef int* state = ints(info)
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef potrf_fn f = <potrf_fn>routine(kind_of(a), "potrf")
    with nogil:
        for i in range(n):
            f(&uplo, &b.rows, b.data + i * b.step, &b.rows, state + i)


def potri(cnp.ndarray a not None, bint upper, cnp.ndarray info not None):
    """One triangle of the inverse, from the Cholesky factor."""
    cdef Batch b = batch(a)
    cdef int* state = ints(info)
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef potrf_fn f = <potrf_fn>routine(kind_of(a), "potri")
    with nogil:
        for i in range(n):
            f(&uplo, &b.rows, b.data + i * b.step, &b.rows, state + i)


def potrs(cnp.ndarray a not None, cnp.ndarray b not None, bint upper, cnp.ndarray info not None):
    """Solve with the Cholesky factor."""
    cdef Batch x = batch(a), y = batch(b)
    cdef int* state = ints(info)
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef potrs_fn f = <potrs_fn>routine(kind_of(a), "potrs")
    with nogil:
        for i in range(n):
            f(&uplo, &x.rows, &y.columns, x.data + i * x.step, &x.rows, y.data + i * y.step,
              &y.rows, state + i)


def sytrf(cnp.ndarray a not None, cnp.ndarray pivots not None, bint hermitian, cnp.ndarray info not None):
    """LDL factors of the lower triangle."""
    cdef Batch b = batch(a)
    cdef int* p = ints(pivots)
    cdef int* state = ints(info)
    cdef int kind = kind_of(a), size = -1
    cdef char uplo = b"L"
    cdef char query[16]
    cdef Py_ssize_t i, n = a.shape[0]
    cdef sytrf_fn f = <sytrf_fn>routine(kind, "sytrf", "hetrf" if hermitian else None)
    f(&uplo, &b.rows, b.data, &b.rows, p, query, &size, state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    with nogil:
        for i in range(n):
            f(&uplo, &b.rows, b.data + i * b.step, &b.rows, p + i * b.rows, work, &size, state + i)
    free(work)


def sytrs(cnp.ndarray a not None, cnp.ndarray pivots not None, cnp.ndarray b not None, bint hermitian):
    """Solve with the factors of `sytrf`."""
    cdef Batch x = batch(a), y = batch(b)
    cdef int* p = ints(pivots)
    cdef int state
    cdef char uplo = b"L"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef sytrs_fn f = <sytrs_fn>routine(kind_of(a), "sytrs", "hetrs" if hermitian else None)
    with nogil:
        for i in range(n):
            f(&uplo, &x.rows, &y.columns, x.data + i * x.step, &x.rows, p + i * x.rows,
              y.data + i * y.step, &y.rows, &state)


def trsm(cnp.ndarray a not None, cnp.ndarray b not None, bint left, bint upper, str trans, bint unit):
    """Solve with triangular matrices: `b` becomes the solution."""
    cdef Batch x = batch(a), y = batch(b)
    cdef char side = b"L" if left else b"R"
    cdef char uplo = b"U" if upper else b"L"
    cdef char diag = b"U" if unit else b"N"
    cdef char t = <char>ord(trans)
    cdef int kind = kind_of(a)
    cdef Py_ssize_t i, n = a.shape[0]
    cdef double one[2]
    cdef trsm_fn f = <trsm_fn>routine(kind, "trsm")
    set_one(kind, one)
    with nogil:
        for i in range(n):
            f(&side, &uplo, &t, &diag, &y.rows, &y.columns, one, x.data + i * x.step, &x.rows,
              y.data + i * y.step, &y.rows)


def clear(cnp.ndarray a not None, bint upper):
    """Zeros beside the triangle that is upper or lower."""
    cdef Batch b = batch(a)
    cdef size_t item = a.itemsize
    cdef Py_ssize_t i, c, n = a.shape[0]
    cdef char* column
    with nogil:
        for i in range(n):
            for c in range(b.columns):
                column = b.data + i * b.step + c * b.rows * item
                if not upper:
                    memset(column, 0, min(c, b.rows) * item)
                elif c + 1 < b.rows:
                    memset(column + (c + 1) * item, 0, (b.rows - c - 1) * item)


def permutations(cnp.ndarray pivots not None, cnp.ndarray rows not None):
    """Where each row comes from when `pivots` of `getrf` exchange rows; both (batch, n), int32."""
    cdef Batch p = batch(pivots), r = batch(rows)
    cdef int* pivot
    cdef int* row
    cdef int k, other
    cdef Py_ssize_t i, n = pivots.shape[0]
    with nogil:
        for i in range(n):
            pivot, row = <int*>(p.data + i * p.step), <int*>(r.data + i * r.step)
            for k in range(r.rows):
                row[k] = k
            for k in range(p.rows):
                other = pivot[k] - 1
                if 0 <= other < r.rows:
                    row[k], row[other] = row[other], row[k]


# ---- orthogonal factors ------------------------------------------------------------------------

def geqrf(cnp.ndarray a not None, cnp.ndarray tau not None):
    """QR factors, as reflectors below the diagonal and `tau` (batch, min(m, n))."""
    cdef Batch b = batch(a), t = batch(tau)
    cdef int kind = kind_of(a), size = -1, state
    cdef char query[16]
    cdef Py_ssize_t i, n = a.shape[0]
    cdef geqrf_fn f = <geqrf_fn>routine(kind, "geqrf")
    f(&b.rows, &b.columns, b.data, &b.rows, t.data, query, &size, &state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    with nogil:
        for i in range(n):
            f(&b.rows, &b.columns, b.data + i * b.step, &b.rows, t.data + i * t.step, work, &size,
              &state)
    free(work)


def orgqr(cnp.ndarray a not None, cnp.ndarray tau not None):
    """The first columns of the product of reflectors, as many as `a` has."""
    cdef Batch b = batch(a), t = batch(tau)
    cdef int kind = kind_of(a), size = -1, state
    cdef char query[16]
    cdef Py_ssize_t i, n = a.shape[0]
    cdef orgqr_fn f = <orgqr_fn>routine(kind, "orgqr", "ungqr")
    f(&b.rows, &b.columns, &t.rows, b.data, &b.rows, t.data, query, &size, &state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    with nogil:
        for i in range(n):
            f(&b.rows, &b.columns, &t.rows, b.data + i * b.step, &b.rows, t.data + i * t.step, work,
              &size, &state)
    free(work)


def ormqr(cnp.ndarray a not None, cnp.ndarray tau not None, cnp.ndarray c not None, bint left, bint transpose):
    """`c` times the product of reflectors, from the left or the right."""
    cdef Batch b = batch(a), t = batch(tau), y = batch(c)
    cdef int kind = kind_of(a), size = -1, state
    cdef char query[16]
    cdef char side = b"L" if left else b"R"
    cdef char trans = b"N"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef ormqr_fn f = <ormqr_fn>routine(kind, "ormqr", "unmqr")
    if transpose:
        trans = b"C" if kind >= COMPLEX else b"T"
    f(&side, &trans, &y.rows, &y.columns, &t.rows, b.data, &b.rows, t.data, y.data, &y.rows, query,
      &size, &state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    with nogil:
        for i in range(n):
            f(&side, &trans, &y.rows, &y.columns, &t.rows, b.data + i * b.step, &b.rows,
              t.data + i * t.step, y.data + i * y.step, &y.rows, work, &size, &state)
    free(work)


# ---- eigenvalues and singular values -----------------------------------------------------------

def syevd(cnp.ndarray a not None, cnp.ndarray w not None, bint upper, bint vectors, cnp.ndarray info not None):
    """Eigenvalues of Hermitian matrices in ascending order; `a` becomes the vectors."""
    cdef Batch b = batch(a), v = batch(w)
    cdef int* state = ints(info)
    cdef int kind = kind_of(a), size = -1, real_size = -1, int_size = -1
    cdef char query[16]
    cdef char real_query[8]
    cdef int int_query[1]
    cdef char job = b"V" if vectors else b"N"
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef void* f = routine(kind, "syevd", "heevd")
    cdef void* work
    cdef void* real_work = NULL
    cdef int* int_work
    if kind < COMPLEX:
        (<syevd_fn>f)(&job, &uplo, &b.rows, b.data, &b.rows, v.data, query, &size, int_query,
                      &int_size, state)
    else:
        (<heevd_fn>f)(&job, &uplo, &b.rows, b.data, &b.rows, v.data, query, &size, real_query,
                      &real_size, int_query, &int_size, state)
        real_size = size_of(kind & 1, real_query)
    size, int_size = size_of(kind, query), max(1, int_query[0])
    work = space(size * width(kind))
    int_work = <int*>space(int_size * sizeof(int))
    if kind >= COMPLEX:
        real_work = space(real_size * width(kind & 1))
    with nogil:
        for i in range(n):
            if kind < COMPLEX:
                (<syevd_fn>f)(&job, &uplo, &b.rows, b.data + i * b.step, &b.rows,
                              v.data + i * v.step, work, &size, int_work, &int_size, state + i)
            else:
                (<heevd_fn>f)(&job, &uplo, &b.rows, b.data + i * b.step, &b.rows,
                              v.data + i * v.step, work, &size, real_work, &real_size, int_work,
                              &int_size, state + i)
    free(work)
    free(int_work)
    free(real_work)


def geev(cnp.ndarray a not None, cnp.ndarray w not None, cnp.ndarray wi or None, cnp.ndarray vectors or None,
         cnp.ndarray info not None):
    """Eigenvalues and, unless `vectors` is None, right eigenvectors; `a` is overwritten.

    Of real matrices, `w` and `wi` are the real and imaginary parts, and of a pair of conjugate
    values the vectors are the real and the imaginary part; of complex ones `wi` is None.
    """
    cdef Batch b = batch(a), v = batch(w), x = v, vr = v
    cdef int* state = ints(info)
    cdef int kind = kind_of(a), size = -1, one = 1
    cdef char query[16]
    cdef char no = b"N"
    cdef char job = b"N" if vectors is None else b"V"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef void* f = routine(kind, "geev")
    cdef void* work
    cdef void* real_work = NULL
    vr.step, vr.rows, vr.data = 0, 1, query          # not written without vectors
    if vectors is not None:
        vr = batch(vectors)
    if kind < COMPLEX:
        x = batch(wi)
        (<geev_fn>f)(&no, &job, &b.rows, b.data, &b.rows, v.data, x.data, NULL, &one, vr.data,
                     &vr.rows, query, &size, state)
    else:
        real_work = space(2 * b.rows * width(kind & 1))
        (<zgeev_fn>f)(&no, &job, &b.rows, b.data, &b.rows, v.data, NULL, &one, vr.data,
                      &vr.rows, query, &size, real_work, state)
    size = size_of(kind, query)
    work = space(size * width(kind))
    with nogil:
        for i in range(n):
            if kind < COMPLEX:
                (<geev_fn>f)(&no, &job, &b.rows, b.data + i * b.step, &b.rows, v.data + i * v.step,
                             x.data + i * x.step, NULL, &one, vr.data + i * vr.step, &vr.rows, work,
                             &size, state + i)
            else:
                (<zgeev_fn>f)(&no, &job, &b.rows, b.data + i * b.step, &b.rows, v.data + i * v.step,
                              NULL, &one, vr.data + i * vr.step, &vr.rows, work, &size, real_work,
                              state + i)
    free(work)
    free(real_work)


def gesdd(cnp.ndarray a not None, cnp.ndarray s not None, cnp.ndarray u or None, cnp.ndarray vt or None,
          cnp.ndarray info not None):
    """Singular values in descending order and, unless `u` and `vt` are None, vectors.

    How many vectors there are follows from the arrays; `a` is overwritten.
    """
    cdef Batch b = batch(a), w = batch(s), x = w, y = w
    cdef int* state = ints(info)
    cdef int kind = kind_of(a), size = -1, low = min(b.rows, b.columns)
    cdef int high = max(b.rows, b.columns)
    cdef char query[16]
    cdef char job = b"N"
    cdef Py_ssize_t i, n = a.shape[0]
    cdef size_t real_size = 7 * low
    cdef void* f = routine(kind, "gesdd")
    cdef void* work
    cdef void* real_work = NULL
    cdef int* int_work
    x.step, x.rows, x.data = 0, 1, query             # not written without vectors
    y.step, y.rows, y.data = 0, 1, query
    if u is not None:
        x, y = batch(u), batch(vt)
        job = b"A" if x.columns == b.rows and y.rows == b.columns else b"S"
        real_size = <size_t>low * max(5 * low + 7, 2 * high + 2 * low + 1)
    int_work = <int*>space(8 * low * sizeof(int))
    if kind < COMPLEX:
        (<gesdd_fn>f)(&job, &b.rows, &b.columns, b.data, &b.rows, w.data, x.data, &x.rows, y.data,
                      &y.rows, query, &size, int_work, state)
    else:
        real_work = space(real_size * width(kind & 1))
        (<zgesdd_fn>f)(&job, &b.rows, &b.columns, b.data, &b.rows, w.data, x.data, &x.rows, y.data,
                       &y.rows, query, &size, real_work, int_work, state)
    size = size_of(kind, query)
    work = space(size * width(kind))
    with nogil:
        for i in range(n):
            if kind < COMPLEX:
                (<gesdd_fn>f)(&job, &b.rows, &b.columns, b.data + i * b.step, &b.rows,
                              w.data + i * w.step, x.data + i * x.step, &x.rows,
                              y.data + i * y.step, &y.rows, work, &size, int_work, state + i)
            else:
                (<zgesdd_fn>f)(&job, &b.rows, &b.columns, b.data + i * b.step, &b.rows,
                               w.data + i * w.step, x.data + i * x.step, &x.rows,
                               y.data + i * y.step, &y.rows, work, &size, real_work, int_work,
                               state + i)
    free(work)
    free(int_work)
    free(real_work)
