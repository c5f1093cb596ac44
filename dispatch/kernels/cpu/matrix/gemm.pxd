"""Products of matrices over raw memory: the inner loops of numpy's matmul, which call its BLAS.

They need no lock and make no array. Both operands may have rows or columns without gaps; BLAS
writes straight into the output, whose rows may lie apart.
"""
from libc.stdint cimport int64_t

# out (m, p) = a (m, k) @ b (k, p), in the dtype `code`: float32, float64 or int64. Steps in elements; those of
# out's columns are 1.
cdef void product(int code, int64_t m, int64_t k, int64_t p, const void* a, int64_t a_row, int64_t a_column,
                  const void* b, int64_t b_row, int64_t b_column, void* out, int64_t out_row) noexcept nogil

# ---- for other loops of numpy's

ctypedef void (*inner_loop)(char** pointers, const Py_ssize_t* sizes, const Py_ssize_t* steps, void* data) noexcept nogil

# The loop of a ufunc whose first operand has numpy's type `num`, and what it is to be given. ImportError: there is none.
cdef int find_loop(object ufunc, int num, inner_loop* loop, void** data) except -1
# Whether a product of floats is made on the caller's thread, without BLAS: steps are those of the inner dimension.
cdef bint is_made_here(int64_t m, int64_t k, int64_t a_column, int64_t b_row) noexcept nogil
