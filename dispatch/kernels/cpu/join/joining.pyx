"""CPU bodies of joining tensors: cat and stack. Each input is moved to its place in the output once, and cast on the way.

Called by the structured kernels with an output of the right size; inputs may be of other dtypes.
"""
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport MF_contiguous
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate, KS_Negative
from dispatch._C.tensor cimport Tensor, data_of, is_contiguous_as, new_view
from dispatch.kernels.cpu.copy.copies cimport caster, copy_values
from dispatch.kernels.cpu.copy.strided cimport dispatch_moves, dispatch_run, itemsize_of, move_between, owners
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

# Tensors with these come as they are from a handler's calls: what works their values out is excluded there.
cdef uint64_t BITS = (KS_Conjugate | KS_Negative) & ~<uint64_t>0xFFFF


cdef int place(Tensor out, Tensor t, dispatch_moves* m, int64_t offset) except -1:
    """t at `offset` (in elements) of the output's first; sizes and steps of the output are in `m`."""
    cdef dispatch_run run = caster(t.c_dtype, out.c_dtype)
    cdef int d, size = itemsize_of(t)
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    if run == NULL or (t.c_keys ^ out.c_keys) & BITS:
        for d in range(m.ndim):
            sizes[d], strides[d] = m.sizes[d], m.to[d] // itemsize_of(out)
        return copy_values(new_view(out, m.ndim, sizes, strides, out.c_offset + offset), t)
    for d in range(m.ndim):
        m.from_[d] = t.c_strides[d] * size
    return move_between(m, data_of(out, itemsize_of(out)) + offset * itemsize_of(out), data_of(t, size), run, out, t)


# ---- long pieces ---------------------------------------------------------------------------------

cdef enum:
    MOST_PIECES = 16             # of a row; and the fewest bytes of each, below which a move of all of them costs less
    SHORTEST = 256

cdef struct Rows:                # of the output, each of a piece of every tensor
    char* to
    int64_t row
    int n
    const char* pieces[MOST_PIECES]
    int64_t lengths[MOST_PIECES]


cdef void copy_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Rows* j = <Rows*>context
    cdef char* to = j.to + first * j.row
    cdef int64_t row
    cdef int k
    for row in range(first, end):
        for k in range(j.n):
            memcpy(to, j.pieces[k] + row * j.lengths[k], j.lengths[k])
            to += j.lengths[k]


cdef bint by_rows(Tensor out, list tensors, int64_t dim) except -1:
    """The output row by row, in the order of its memory. False: not all is of one dtype and without gaps, or pieces are short."""
    cdef Rows j
    cdef Tensor t
    cdef int d, size = itemsize_of(out)
    cdef int64_t lead = 1
    for d in range(dim):
        lead *= out.c_sizes[d]
    if lead == 1 or len(tensors) > MOST_PIECES or not is_contiguous_as(out, MF_contiguous):
        return False
    j.n, j.row, j.to = 0, 0, data_of(out, size)
    for item in tensors:
        t = <Tensor>item
        if t is out or t.c_dtype != out.c_dtype or (t.c_keys ^ out.c_keys) & BITS or not is_contiguous_as(t, MF_contiguous) \
                or t.c_numel % lead or t.c_numel // lead * size < SHORTEST:
            return False
        j.pieces[j.n], j.lengths[j.n] = data_of(t, size), t.c_numel // lead * size
        j.row += j.lengths[j.n]
        j.n += 1
    if j.row * lead != out.c_numel * size:
        return False                     # sizes that another thread changed
    kept = [owners(out, item) for item in tensors]
    with nogil:
        in_spans(copy_rows, &j, lead, parts_for(lead, 2 * j.row * lead))
    return True


# ---- any pieces ----------------------------------------------------------------------------------

cdef int raise_changed() except -1:
    raise refused("another thread gave a tensor other sizes while it was joined")


cdef int cat(Tensor out, list tensors, int64_t dim) except -1:
    """Side by side along `dim`; tensors of one dimension and size 0 have no place."""
    cdef dispatch_moves m
    cdef Tensor t
    cdef int d, size = itemsize_of(out)
    cdef int64_t start = 0
    if out.c_numel == 0:
        return 0
    if dim < 0:
        dim += out.c_ndim
    if by_rows(out, tensors, dim):
        return 0
    for item in tensors:
        t = <Tensor>item
        if t.c_numel == 0 or t is out:                 # which had no elements until it took the result's sizes
            continue
        m.ndim = out.c_ndim
        if t.c_ndim != out.c_ndim:
            raise_changed()
        for d in range(out.c_ndim):
            if t.c_sizes[d] > out.c_sizes[d] - (start if d == dim else 0):
                raise_changed()
            m.sizes[d], m.to[d] = t.c_sizes[d], out.c_strides[d] * size
        place(out, t, &m, start * out.c_strides[dim])
        start += t.c_sizes[dim]
    return 0


cdef int stack(Tensor out, list tensors, int64_t dim) except -1:
    """Side by side along a new dimension `dim`."""
    cdef dispatch_moves m
    cdef Tensor t
    cdef int d, size = itemsize_of(out)
    cdef int64_t i = 0
    if out.c_numel == 0:
        return 0
    if dim < 0:
        dim += out.c_ndim
    if by_rows(out, tensors, dim):
        return 0
    for item in tensors:
        t = <Tensor>item
        m.ndim = t.c_ndim
        if t.c_ndim + 1 != out.c_ndim or i == out.c_sizes[dim]:
            raise_changed()
        for d in range(t.c_ndim):
            if t.c_sizes[d] > out.c_sizes[d if d < dim else d + 1]:
                raise_changed()
            m.sizes[d], m.to[d] = t.c_sizes[d], out.c_strides[d if d < dim else d + 1] * size
        place(out, t, &m, i * out.c_strides[dim])
        i += 1
    return 0
