"""CPU bodies of rearranging channels: channel_shuffle and im2col move elements between strided places.

Called by the structured kernels with outputs of the right size and dtype.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_RARE, DTYPES_WIDE_UNSIGNED, ST_complex32, is_in, is_integral_code
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.copy.strided cimport copier, dispatch_moves, dispatch_run, itemsize_of, move_between, owners
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

__all__ = ["channel_shuffle", "im2col"]


cdef int raise_unsupported(Tensor t) except -1:
    raise unserved(dtypes.get_dtype(t.c_dtype))


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

cdef extern from "../kernels/cpu/rearrange/windows.h" nogil:
    ctypedef struct windows_job:
        char* to
        const char* from_ "from"
        dispatch_run run
        int size
        int64_t channels
        int64_t window[2]
        int64_t places[2]
        int64_t dilation[2]
        int64_t padding[2]
        int64_t stride[2]
        int64_t sizes[2]
        Py_ssize_t to_image, to_row, to_column, from_image, from_channel
        Py_ssize_t from_step[2]
    void windows_planes(void* context, int64_t part, int64_t first, int64_t end) noexcept


def im2col(Tensor out not None, Tensor self not None, kernel_size, dilation, padding, stride):
    """For each element of the window a row: the image moved by it, zeros where the padding is."""
    cdef windows_job w
    cdef int lead = self.c_ndim - 3, size = itemsize_of(self), k
    cdef int64_t planes
    if out.c_numel == 0:
        return
    if is_in(DTYPES_RARE | DTYPES_WIDE_UNSIGNED, self.c_dtype) or self.c_dtype == ST_complex32 or (
            is_integral_code(self.c_dtype, False)):
        raise_unsupported(self)
    w.size, w.run, w.channels = size, copier(size), self.c_sizes[lead]
    for k in range(2):
        w.window[k], w.stride[k], w.dilation[k], w.padding[k] = kernel_size[k], stride[k], dilation[k], padding[k]
        w.sizes[k] = self.c_sizes[lead + 1 + k]
        w.places[k] = (w.sizes[k] + 2 * w.padding[k] - w.dilation[k] * (w.window[k] - 1) - 1) // w.stride[k] + 1
        w.from_step[k] = self.c_strides[lead + 1 + k] * size
    w.to_row, w.to_column, w.from_channel = out.c_strides[lead] * size, out.c_strides[lead + 1] * size, self.c_strides[lead] * size
    w.to_image = out.c_strides[0] * size if lead else 0
    w.from_image = self.c_strides[0] * size if lead else 0
    w.to, w.from_ = data_of(out, size), data_of(self, size)
    planes = w.channels * (self.c_sizes[0] if lead else 1)
    kept = owners(out, self)
    with nogil:
        in_spans(windows_planes, &w, planes, parts_for(planes, out.c_numel * size))
