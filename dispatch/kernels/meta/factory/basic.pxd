"""Factories on Meta, and what all factories share: how options become a dtype and a device."""
from libc.stdint cimport int64_t

from dispatch._C.symbolic cimport SIZE_ERROR
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object empty(IntArray size, int dtype, int layout, object device, object pin_memory,
                  int memory_format)
cdef object empty_strided(IntArray size, IntArray stride, int dtype, int layout, object device,
                          object pin_memory)
cdef object _efficientzerotensor(IntArray size, int dtype, int layout, object device,
                                 object pin_memory)
cdef object arange_out(object start, object end, object step, Tensor out)

# ---- shared

# A tensor without values on CPU or Meta. RuntimeError for bad sizes, strides or formats.
cdef Tensor new_formatted(IntArray size, int dtype, int devtype, int memory_format)
# Zeros without memory, which only kernels at the key ZeroTensor and copies may read.
cdef Tensor new_zero(IntArray size, int dtype, int devtype)
cdef Tensor new_strided(IntArray size, IntArray stride, int dtype, int devtype)
# NotImplementedError unless `layout` is strided or not given (-1).
cdef int check_layout(int layout) except -1
# How many elements arange has in dtype `code`. RuntimeError for bounds that make no range.
cdef int64_t arange_size(object start, object end, object step, int code) except? SIZE_ERROR
# The warning of the first tensor of complex32.
cdef int advise_complex32() except -1
cdef Tensor resized_for_arange(Tensor out, int64_t n)
# Meta while a fake kernel runs, else `devtype`.
cdef int kernel_device(int devtype) noexcept
