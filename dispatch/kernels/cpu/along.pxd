"""Operators along one dimension on the CPU: hands tensors to the walk over rows of `row_walk.h`.

A step gets rows without gaps, in the type that they are computed in (`row_of`): float32 for 16-bit
floats, int64 for integers and bool, everything else itself.
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

ctypedef void (*row_step_fn)(const void** in_, void** out, int64_t n, const void* context) noexcept nogil

ctypedef void (*row_cols_fn)(char** data, const Py_ssize_t* steps, int64_t n, int64_t m) noexcept nogil

cdef enum:
    IN_FLOAT32 = 0               # what row_of answers: which of a step's variants to take
    IN_FLOAT64 = 1
    IN_INT64 = 2
    IN_COMPLEX64 = 3
    IN_COMPLEX128 = 4
    IN_NONE = -1                 # no loops compute with the dtype

cdef int row_of(int code) noexcept
# Every row along `dim` of the inputs into the rows of the outputs, whose other sizes are those of the first input; an output may
# lack the dimension. No tensor is empty. None: there is no such operand; MemoryError.
# `cols`: the same step for rows side by side; NULL: it has none. `scratch`: bytes that the step wants behind its last output.
# `contexts`: for a context that counts rows, one for each part of `part` rows along the only other dimension, NULL: the one serves
# all. A part's rows are taken by one thread, one after the other.
cdef int walk_along(row_step_fn step, row_cols_fn cols, const void* context, int64_t dim, Tensor first, Tensor second,
                    Tensor out, Tensor second_out=*, Tensor third_out=*, int64_t scratch=*,
                    const void** contexts=*, int64_t part=*) except -1
# How many threads rows of so many bytes in all are worth.
cdef int rows_threads(int64_t nbytes) noexcept nogil
