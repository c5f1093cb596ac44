"""Moves of elements between tensors: geometry from their metadata, the lock, what owns the memory, threads."""
from libc.stdint cimport int64_t
from libc.stdlib cimport labs
from libc.string cimport memcpy

from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.threads cimport in_parts, length_of_part, threads_for

cdef extern from "../kernels/cpu/copy/strided.h" nogil:
    dispatch_run dispatch_copier(int itemsize) noexcept
    void dispatch_move(dispatch_moves* m, char* to, const char* from_, dispatch_run run) noexcept


cdef enum:
    CACHE_LINE = 64


cdef dispatch_run copier(int itemsize) noexcept nogil:
    return dispatch_copier(itemsize)


cdef void move(dispatch_moves* m, char* to, const char* from_, dispatch_run run) noexcept nogil:
    dispatch_move(m, to, from_, run)


cdef object owners(Tensor a, Tensor b):
    return shared_owner(a.c_storage), shared_owner(b.c_storage)


cdef struct Split:
    dispatch_moves* moves
    char* to
    const char* from_
    dispatch_run run
    int dim
    int64_t length


cdef void run_part(void* context, int64_t part) noexcept nogil:
    cdef Split* s = <Split*>context
    cdef dispatch_moves m
    cdef int64_t first = part * s.length
    m.ndim = s.moves.ndim
    memcpy(m.sizes, s.moves.sizes, m.ndim * sizeof(int64_t))
    memcpy(m.to, s.moves.to, m.ndim * sizeof(int64_t))
    memcpy(m.from_, s.moves.from_, m.ndim * sizeof(int64_t))
    m.sizes[s.dim] = min(s.length, m.sizes[s.dim] - first)
    dispatch_move(&m, s.to + first * m.to[s.dim], s.from_ + first * m.from_[s.dim], s.run)


cdef void move_split(dispatch_moves* m, char* to, const char* from_, dispatch_run run, int threads) noexcept nogil:
    """A dimension of the target in parts: of those that are long enough the one whose elements lie farthest apart.

    Not one whose parts would be pieces of the same few lines of the source.
    """
    cdef Split s
    cdef int d
    s.moves, s.to, s.from_, s.run, s.dim = m, to, from_, run, 0
    for d in range(m.ndim):
        if m.sizes[d] > m.sizes[s.dim]:
            s.dim = d
    for d in range(m.ndim):
        if m.sizes[d] >= 4 * threads and labs(m.to[d]) > labs(m.to[s.dim]) \
                and (labs(m.from_[d]) >= CACHE_LINE or labs(m.from_[d]) * m.sizes[d] >= 8 * threads * CACHE_LINE):
            s.dim = d
    s.length = (m.sizes[s.dim] + threads - 1) // threads
    if labs(m.to[s.dim]) < CACHE_LINE:
        s.length = length_of_part(m.sizes[s.dim], threads)
    in_parts(run_part, &s, (m.sizes[s.dim] + s.length - 1) // s.length)


cdef int move_between(dispatch_moves* m, char* to, const char* from_, dispatch_run run, Tensor a, Tensor b) except -1:
    cdef object kept
    cdef int d, threads
    cdef int64_t n = 1
    for d in range(m.ndim):
        n *= m.sizes[d]
    if n < LONG_RUN:
        dispatch_move(m, to, from_, run)
        return 0
    kept = owners(a, b)
    n *= itemsize_of(a) + itemsize_of(b)
    with nogil:
        threads = threads_for(n)
        if threads > 1 and m.ndim:
            move_split(m, to, from_, run, threads)
        else:
            dispatch_move(m, to, from_, run)
    return 0


cdef int reach(Tensor t, char** first, char** end) except -1:
    """Addresses of the first byte of any element and behind the last."""
    cdef int d, size = itemsize_of(t)
    cdef int64_t low = 0, high = 0
    for d in range(t.c_ndim):
        if t.c_strides[d] > 0:
            high += (t.c_sizes[d] - 1) * t.c_strides[d]
        else:
            low += (t.c_sizes[d] - 1) * t.c_strides[d]
    first[0] = data_of(t, size) + low * size
    end[0] = data_of(t, size) + (high + 1) * size
    return 0


cdef bint memory_meets(Tensor a, Tensor b) except -1:
    cdef char* a_first
    cdef char* a_end
    cdef char* b_first
    cdef char* b_end
    if a.c_numel == 0 or b.c_numel == 0:
        return False
    if a.c_storage is not b.c_storage and (
            a.c_storage.data + a.c_storage.c_nbytes <= b.c_storage.data
            or b.c_storage.data + b.c_storage.c_nbytes <= a.c_storage.data):
        return False
    reach(a, &a_first, &a_end)
    reach(b, &b_first, &b_end)
    return a_first < b_end and b_first < a_end
