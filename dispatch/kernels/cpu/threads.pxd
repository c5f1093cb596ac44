"""Work in parts on several threads, for loops without the interpreter's lock.

`in_parts(fn, context, parts)` calls `fn(context, i)` for each i below `parts`, on up to `set_num_threads` threads, in any
order, and returns when all are done. `threads_for` says into how many parts work over so many bytes is worth splitting.
`in_spans(fn, context, n, parts)` cuts n things (planes, rows, matrices) into that many spans: fn(context, i, first, end);
`parts_for(n, nbytes)` is how many spans are worth it, at least one.
"""
from libc.stdint cimport int64_t

ctypedef void (*part_fn)(void* context, int64_t part) noexcept nogil

ctypedef void (*span_fn)(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil

cdef enum:
    MAX_PARTS = 64               # that `threads_for` may answer

# Whether the caller is a part of such work itself: parts of its own would be made one after the other.
cdef bint is_in_a_part() noexcept nogil
cdef void in_parts(part_fn fn, void* context, int64_t parts) noexcept nogil
cdef int threads_for(int64_t nbytes) noexcept nogil
cdef void in_spans(span_fn fn, void* context, int64_t n, int64_t parts) noexcept nogil
cdef int64_t parts_for(int64_t n, int64_t nbytes) noexcept nogil
# Spans of n products with one of BLAS's threads each; `work`: multiplications in all. Few products are left to BLAS's threads.
cdef int64_t blas_parts_for(int64_t n, int64_t work) noexcept nogil
cdef void in_blas_spans(span_fn fn, void* context, int64_t n, int64_t parts) noexcept nogil
# Into how long pieces a dimension is cut: a multiple of 16 where it is long, so that two threads do not write to one cache line.
cdef inline int64_t length_of_part(int64_t size, int threads) noexcept nogil:
    cdef int64_t length = (size + threads - 1) // threads
    return (length + 15) // 16 * 16 if length >= 64 else length
# The dimension that parts are cut from: the outermost that is long enough for them, else the largest. Outermost first.
cdef inline int dim_to_cut(const int64_t* sizes, int ndim, int64_t parts) noexcept nogil:
    cdef int d, largest = 0
    for d in range(ndim):
        if sizes[d] >= 4 * parts:
            return d
        if sizes[d] > sizes[largest]:
            largest = d
    return largest
# A BLAS library that has just been loaded gets the threads that `set_num_threads` chose, if anybody did.
cdef void meet_blas() noexcept
# BLAS's calls until the end are one thread's each; False: there is nothing to end.
cdef bint begin_one_blas_thread() noexcept nogil
cdef void end_one_blas_thread() noexcept nogil
