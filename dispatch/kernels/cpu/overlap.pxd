"""Whether a tensor may be written element by element while another one is read: they share no memory, or all of it alike.

Asked by the driver of elementwise loops for each output and operand, so inline; whole memory first, which mostly answers it.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.tensor cimport Tensor


cdef inline bint same_geometry(Tensor a, Tensor b) noexcept:
    cdef int i
    if a.c_offset != b.c_offset or a.c_ndim != b.c_ndim or a.c_dtype != b.c_dtype:
        return False
    for i in range(a.c_ndim):
        if a.c_strides[i] != b.c_strides[i]:
            return False
    return True


cdef inline void extent_of(Tensor t, char** first, char** end) noexcept:
    """The bytes that a tensor with elements reaches."""
    cdef int itemsize = dtypes.itemsize_table()[t.c_dtype]
    cdef int64_t below = 0, above = 0, reach
    cdef int i
    for i in range(t.c_ndim):
        reach = (t.c_sizes[i] - 1) * t.c_strides[i]
        if reach < 0:
            below += reach
        else:
            above += reach
    first[0] = t.c_storage.data + (t.c_offset + below) * itemsize
    end[0] = t.c_storage.data + (t.c_offset + above + 1) * itemsize


cdef inline bint apart(Tensor out, Tensor a) noexcept:
    """Whether writing `out` element by element cannot spoil operands that are still to be read."""
    cdef char* a_first
    cdef char* a_end
    cdef char* out_first
    cdef char* out_end
    if a.c_numel == 0 or out.c_numel == 0:
        return True
    if out.c_storage is not a.c_storage:
        if (a.c_storage.data + a.c_storage.c_nbytes <= out.c_storage.data
                or out.c_storage.data + out.c_storage.c_nbytes <= a.c_storage.data):
            return True
    elif same_geometry(out, a):
        return True
    extent_of(a, &a_first, &a_end)
    extent_of(out, &out_first, &out_end)
    return a_end <= out_first or out_end <= a_first
