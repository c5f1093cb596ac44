"""Batches of matrices as LAPACK wants them: each is a block of memory, column after column.

A body starts with `blocks` or `rows` (a copy to overwrite), `read` (no copy where the memory is
right) or `work` (the output's own memory where that is right), and ends with `finish`.
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef enum:
    SINGLE, DOUBLE, COMPLEX, ZOMPLEX         # LAPACK's s, d, c and z

cdef class Block:
    cdef Tensor t                # whose memory it is
    cdef object owner            # keeps that memory, whatever another thread does to the tensor
    cdef char* data
    cdef size_t step             # bytes of a matrix
    cdef int rows, columns       # of a matrix; `rows` is the leading dimension too
    cdef int kind
    cdef Py_ssize_t count        # of matrices

# NotImplementedError: LAPACK has four dtypes.
cdef int check_kind(Tensor t) except -1
cdef int kind_of(int code) noexcept nogil
cdef size_t width(int kind) noexcept nogil                   # bytes of an element

# A copy by columns; `sizes` (NULL: its own): expanded to them.
cdef Block blocks(Tensor t, const int64_t* sizes=*, int ndim=*)
# A copy by rows: blocks of the transposed matrices.
cdef Block rows(Tensor t, const int64_t* sizes=*, int ndim=*)
# By columns, to be read only.
cdef Block read(Tensor t, const int64_t* sizes=*, int ndim=*)
# By rows, to be read only; None where the memory is not so.
cdef Block try_rows(Tensor t, const int64_t* sizes, int ndim)
# `source`, expanded to the output's sizes, by columns.
cdef Block work(Tensor out, Tensor source)
# Uninitialised: for an output, of any strides, of matrices; of a number of a dtype, or a vector, for each matrix.
cdef Block blank(Tensor out, int code)
cdef Block numbers(Tensor out, int code)
cdef Block vectors(Tensor out, int code)
cdef Block new_block(int code, Py_ssize_t count, int rows, int columns)
# Vectors that are given, to be read only; expanded to `sizes`.
cdef Block read_vectors(Tensor t, int code, const int64_t* sizes=*, int ndim=*)
# A number for each matrix of `t`, 0 at first: in the output, or in memory of its own.
cdef Block info_of(Tensor info)
cdef Block new_info(Tensor t)
# The block into the output, unless it is its memory.
cdef int finish(Tensor out, Block b) except -1
# A view with the last two dimensions exchanged, with one more of size 1 at the end.
cdef Tensor transposed(Tensor t)
cdef Tensor as_columns(Tensor t)

cdef inline char* matrix(Block b, Py_ssize_t i) noexcept nogil:
    return b.data + i * b.step
