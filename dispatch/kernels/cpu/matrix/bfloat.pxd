"""Products of matrices of bfloat16, as they are: `bfloat.h`."""
from libc.stdint cimport int64_t, uint16_t

cdef extern from "matrix/bfloat.h" nogil:
    ctypedef struct bfloat_matrix:
        const uint16_t* data
        Py_ssize_t row, column
    ctypedef void (*bfloat_taker)(void* context, float* sums, Py_ssize_t row, int64_t i, int64_t m, int64_t j, int64_t n) noexcept
    bint has_bfloat_product(int64_t work)
    bint has_bfloat_blocks(int64_t m, int64_t k)
    bint bfloat_product(int64_t m, int64_t k, int64_t n, bfloat_matrix a, bfloat_matrix b, float* out, Py_ssize_t row,
                        bfloat_taker take, void* context)
