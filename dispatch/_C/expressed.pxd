"""Geometry with expressions in it: worked out once, or pinned to numbers, before a tensor takes it."""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t

cdef struct Expressed:
    int64_t sizes[128]
    int64_t strides[128]
    int64_t offset, numel
    uint32_t flags               # GeometryFlag
    PyObject* symbols            # borrowed: the ShapeEnv; NULL: all are numbers
    bint pinned                  # some were expressions and are numbers now

# Fills `e`. RuntimeError for a negative size or offset. With `pin` every expression becomes a number by a guard.
cdef int express(Expressed* e, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, bint pin) except -1
# Only the numbers, each pinned. `strides` may be NULL.
cdef int pin_numbers(Expressed* e, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1
