"""What finds LAPACK's routines and lays out their arguments, for modules that call some of their own."""
cimport numpy as cnp

cdef enum:
    SINGLE, DOUBLE, COMPLEX, ZOMPLEX         # LAPACK's s, d, c and z

cdef struct Batch:
    char* data
    size_t step                              # bytes of a matrix
    int rows, columns                        # of a matrix; rows is the leading dimension too

cdef void* routine(int kind, str real, str complex_=*) except NULL
cdef int kind_of(cnp.ndarray a) except -1
cdef Batch batch(cnp.ndarray a)
cdef int* ints(cnp.ndarray a)
cdef int size_of(int kind, void* work) noexcept nogil
cdef size_t width(int kind) noexcept nogil
cdef void* space(size_t nbytes) except NULL
