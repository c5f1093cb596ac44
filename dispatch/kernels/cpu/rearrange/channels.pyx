"""CPU bodies of rearranging channels: channel_shuffle and im2col are moves between strided places.

Called by the structured kernels with outputs of the right size and dtype.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_RARE, DTYPES_WIDE_UNSIGNED, ST_complex32, is_in, is_integral_code
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.copy.strided cimport copier, dispatch_moves, itemsize_of, move_between

__all__ = ["channel_shuffle", "im2col"]


cdef int raise_unsupported(Tensor t) except -1:
    raise refused(f"no CPU kernel for {dtypes.get_dtype(t.c_dtype)!r}", NotImplementedError)


def channel_shuffle(Tensor out not None, Tensor self not None, int64_t groups):
    """Channels, read group by group, written one of each group after the other."""
    cdef dispatch_moves m
    cdef int64_t each
    cdef int d, size = itemsize_of(self)
    if out.c_numel == 0:
        return
    if is_in(DTYPES_RARE | DTYPES_WIDE_UNSIGNED, self.c_dtype) or self.c_dtype == ST_complex32:
        raise_unsupported(self)
    each = self.c_sizes[1] // groups
    m.ndim = 0
    for d in range(self.c_ndim):
        if self.c_sizes[d] == 1:
            continue
        m.sizes[m.ndim], m.to[m.ndim], m.from_[m.ndim] = self.c_sizes[d], out.c_strides[d] * size, self.c_strides[d] * size
        m.ndim += 1
        if d == 1:               # each * groups: one of each group, then the next
            m.sizes[m.ndim - 1], m.sizes[m.ndim] = each, groups
            m.to[m.ndim] = m.to[m.ndim - 1]
            m.to[m.ndim - 1] *= groups
            m.from_[m.ndim] = m.from_[m.ndim - 1] * each
            m.ndim += 1
    move_between(&m, data_of(out, size), data_of(self, size), copier(size), out, self)


# ---- im2col ------------------------------------------------------------------------------------

cdef inline int64_t first_inside(int64_t start, int64_t step) noexcept nogil:
    """The first i >= 0 with start + i * step >= 0."""
    return 0 if start >= 0 else (-start + step - 1) // step


cdef inline int64_t end_inside(int64_t start, int64_t step, int64_t size, int64_t places) noexcept nogil:
    """How many i from 0 on, at most `places`, have start + i * step < size."""
    cdef int64_t n = (size - start + step - 1) // step if start < size else 0
    return n if n < places else places


def im2col(Tensor out not None, Tensor self not None, kernel_size, dilation, padding, stride):
    """For each element of the window a row: the image moved by it, zeros where the padding is."""
    cdef dispatch_moves m
    cdef int lead = self.c_ndim - 3, size = itemsize_of(self), k
    cdef int64_t window[2]
    cdef int64_t places[2]
    cdef int64_t step[2]
    cdef int64_t at[2]
    cdef int64_t first[2]
    cdef int64_t count[2]
    cdef int64_t i, j, row, column
    cdef int64_t to, from_
    if out.c_numel == 0:
        return
    if is_in(DTYPES_RARE | DTYPES_WIDE_UNSIGNED, self.c_dtype) or self.c_dtype == ST_complex32 or (
            is_integral_code(self.c_dtype, False)):
        raise_unsupported(self)
    for k in range(2):
        window[k], step[k] = kernel_size[k], stride[k]
        places[k] = (self.c_sizes[lead + 1 + k] + 2 * <int64_t>padding[k]
                     - <int64_t>dilation[k] * (window[k] - 1) - 1) // step[k] + 1
    fill_values(out, 0)
    row, column = out.c_strides[lead] * size, out.c_strides[lead + 1] * size
    for i in range(window[0]):
        for j in range(window[1]):
            at[0], at[1] = i * <int64_t>dilation[0] - <int64_t>padding[0], j * <int64_t>dilation[1] - <int64_t>padding[1]
            for k in range(2):
                first[k] = first_inside(at[k], step[k])
                count[k] = end_inside(at[k], step[k], self.c_sizes[lead + 1 + k], places[k]) - first[k]
            if count[0] <= 0 or count[1] <= 0:
                continue
            to = (i * window[1] + j) * row + (first[0] * places[1] + first[1]) * column
            from_ = 0
            m.ndim = 4
            m.sizes[0] = self.c_sizes[0] if lead else 1
            m.to[0], m.from_[0] = out.c_strides[0] * size, self.c_strides[0] * size
            m.sizes[1] = self.c_sizes[lead]
            m.to[1], m.from_[1] = window[0] * window[1] * row, self.c_strides[lead] * size
            for k in range(2):
                m.sizes[2 + k] = count[k]
                m.to[2 + k] = column * (places[1] if k == 0 else 1)
                m.from_[2 + k] = self.c_strides[lead + 1 + k] * step[k] * size
                from_ += (at[k] + first[k] * step[k]) * self.c_strides[lead + 1 + k] * size
            move_between(&m, data_of(out, size) + to, data_of(self, size) + from_, copier(size), out, self)
