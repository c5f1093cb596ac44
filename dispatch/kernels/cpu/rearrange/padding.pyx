"""CPU bodies of padding, by a constant or by what is there, and their gradients.

Called by the structured kernels, which have checked sizes. Where each position along a padded dimension comes from is worked
out once, in tables; then rows are copied, or added, by the loops of `padding.h`.
"""
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING_AND_COMPLEX, DTYPES_RARE, ST_bool, ST_complex32, is_in
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.copy.strided cimport (
    copier, dispatch_moves, dispatch_run, itemsize_of, move_between,
)
from dispatch.kernels.cpu.dense cimport LONG_RUN
from dispatch.kernels.cpu.index.slices cimport adder
from dispatch.kernels.cpu.runs cimport run_spans
from dispatch.kernels.cpu.threads cimport dim_to_cut, threads_for

__all__ = [
    "constant_pad_nd",
    "reflection_pad",
    "reflection_pad_backward",
    "replication_pad",
    "replication_pad_backward",
]

cdef extern from "../kernels/cpu/rearrange/padding.h" nogil:
    ctypedef struct dispatch_padding:
        int64_t batch[2]
        int64_t padded[3]
        int64_t big_batch[2]
        int64_t big[3]
        int64_t small_batch[2]
        int64_t small[3]
        const int64_t* at[3]
        int64_t middle
        int64_t width
    void dispatch_pad_copy(const dispatch_padding* p, char* big, const char* small, int64_t size, dispatch_run run) noexcept
    void dispatch_pad_add(const dispatch_padding* p, const char* big, char* small, dispatch_run add) noexcept


# ---- with a constant ---------------------------------------------------------------------------

def constant_pad_nd(Tensor out not None, Tensor self not None, pad, value):
    """self within a border of `value`; negative numbers cut instead."""
    cdef dispatch_moves m
    cdef int64_t to = 0, from_ = 0, before, after
    cdef int d, size = itemsize_of(self)
    cdef bint grows = False
    if out.c_numel == 0:
        return
    m.ndim = self.c_ndim
    for d in range(self.c_ndim):
        m.sizes[d], m.to[d], m.from_[d] = self.c_sizes[d], out.c_strides[d] * size, self.c_strides[d] * size
    for i in range(len(pad) // 2):
        d = self.c_ndim - 1 - i
        before, after = pad[2 * i], pad[2 * i + 1]
        grows = grows or before > 0 or after > 0
        if before > 0:
            to += before * m.to[d]
        else:
            from_ -= before * m.from_[d]
            m.sizes[d] += before
        if after < 0:
            m.sizes[d] += after
    if grows:
        fill_values(out, value)
    for d in range(self.c_ndim):
        if m.sizes[d] <= 0:
            return
    move_between(&m, data_of(out, size) + to, data_of(self, size) + from_, copier(size), out, self)


# ---- with what is there ------------------------------------------------------------------------

cdef int64_t source(int64_t i, int64_t size, bint mirrored) noexcept nogil:
    """The position that the i-th (from -before to size + after - 1) comes from."""
    if not mirrored:
        return 0 if i < 0 else size - 1 if i >= size else i
    if i < 0:
        i = -i
    return 2 * (size - 1) - i if i >= size else i


cdef int set_padding(dispatch_padding* p, int64_t* table, Tensor big, Tensor small, padding, bint mirrored) except -1:
    """`table` has room for the positions of all padded dimensions."""
    cdef int n = <int>len(padding) // 2, lead = small.c_ndim - n, d, k, size = itemsize_of(small)
    cdef int64_t before = 0, i
    for k in range(2):
        d = lead - 2 + k
        p.batch[k] = small.c_sizes[d] if d >= 0 else 1
        p.big_batch[k] = big.c_strides[d] * size if d >= 0 else 0
        p.small_batch[k] = small.c_strides[d] * size if d >= 0 else 0
    for k in range(3):
        d = lead + k - (3 - n)
        if k < 3 - n:
            p.padded[k], p.big[k], p.small[k] = 1, 0, 0
            before = 0
        else:
            p.padded[k], p.big[k], p.small[k] = big.c_sizes[d], big.c_strides[d] * size, small.c_strides[d] * size
            before = padding[2 * (2 - k)]
        for i in range(p.padded[k]):
            table[i] = source(i - before, small.c_sizes[d], mirrored) if k >= 3 - n else 0
        p.at[k] = table
        table += p.padded[k]
    p.middle = min(max(before, 0), p.padded[2])
    p.width = min(p.padded[2], before + small.c_sizes[small.c_ndim - 1]) - p.middle
    if p.width < 0:
        p.width = 0
    return 0


cdef int64_t* new_table(Tensor big, int n) except NULL:
    cdef int64_t total = 3
    cdef int d
    cdef int64_t* table
    for d in range(n):
        total += big.c_sizes[big.c_ndim - 1 - d]
    table = <int64_t*>malloc(total * sizeof(int64_t))
    if table == NULL:
        raise MemoryError
    return table


cdef int check_supported(Tensor t) except -1:
    if is_in(DTYPES_RARE, t.c_dtype) or t.c_dtype == ST_complex32 or t.c_dtype == ST_bool:
        raise unserved(dtypes.get_dtype(t.c_dtype))
    return 0


cdef struct Walk:
    dispatch_padding p
    char* big
    char* small
    int size
    dispatch_run run             # that copies, or adds
    bint adds
    int dim                      # that is cut: of the batch, or behind those two a padded one


cdef void take_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Walk* w = <Walk*>context
    cdef dispatch_padding p = w.p
    cdef char* big = w.big
    cdef char* small = w.small
    cdef int d = w.dim - 2
    if w.dim < 2:
        p.batch[w.dim] = end - first
        big += first * p.big_batch[w.dim]
        small += first * p.small_batch[w.dim]
    else:
        p.padded[d] = end - first
        p.at[d] += first
        big += first * p.big[d]
    if w.adds:
        dispatch_pad_add(&p, big, small, w.run)
    else:
        dispatch_pad_copy(&p, big, small, w.size, w.run)


cdef int64_t cut(Walk* w, int64_t nbytes) noexcept:
    """Choose the dimension that is cut, none of elements. Sums meet where positions do: theirs is of the batch."""
    cdef int64_t sizes[4]
    sizes[0], sizes[1], sizes[2], sizes[3] = w.p.batch[0], w.p.batch[1], w.p.padded[0], w.p.padded[1]
    if w.p.big_batch[1] < w.p.big[2]:
        sizes[1] = 1                         # channels that lie innermost
    w.dim = dim_to_cut(sizes, 2 if w.adds else 4, threads_for(nbytes))
    return sizes[w.dim]


cdef int walk(Tensor big, Tensor small, padding, bint mirrored, dispatch_run add) except -1:
    """Copy `small` into the padded `big`; with `add`, add what is in `big` to where in `small` it came from."""
    cdef Walk w
    cdef int64_t* table
    cdef int64_t n
    w.size, w.adds = itemsize_of(small), add != NULL
    w.big, w.small, w.run = data_of(big, w.size), data_of(small, w.size), add if add != NULL else copier(w.size)
    table = new_table(big, <int>len(padding) // 2)
    try:
        set_padding(&w.p, table, big, small, padding, mirrored)
        n = cut(&w, 2 * big.c_numel * w.size)
        run_spans(take_part, &w, n, LONG_RUN, 2 * big.c_numel * w.size, (big, small))
    finally:
        free(table)
    return 0


cdef int pad(Tensor out, Tensor self, padding, bint mirrored) except -1:
    check_supported(self)
    return walk(out, self, padding, mirrored, NULL) if out.c_numel else 0


cdef int pad_backward(Tensor grad_input, Tensor grad_output, padding, bint mirrored) except -1:
    if grad_input.c_numel == 0:
        return 0
    if not is_in(DTYPES_FLOATING_AND_COMPLEX, grad_input.c_dtype):
        raise unserved(dtypes.get_dtype(grad_input.c_dtype))
    fill_values(grad_input, 0)
    return walk(grad_output, grad_input, padding, mirrored, adder(grad_input))


def reflection_pad(Tensor out not None, Tensor self not None, padding):
    """The last dimensions, as many as `padding` has pairs, mirrored at their ends."""
    pad(out, self, padding, True)


def replication_pad(Tensor out not None, Tensor self not None, padding):
    """The last dimensions' ends repeated."""
    pad(out, self, padding, False)


def reflection_pad_backward(Tensor grad_input not None, Tensor grad_output not None, Tensor self not None, padding):
    """The gradient added up where elements came from."""
    pad_backward(grad_input, grad_output, padding, True)


def replication_pad_backward(Tensor grad_input not None, Tensor grad_output not None, Tensor self not None, padding):
    """The same for repeated ends."""
    pad_backward(grad_input, grad_output, padding, False)
