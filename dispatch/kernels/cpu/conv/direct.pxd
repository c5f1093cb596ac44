"""Convolutions of float32 whose windows are not copied: padded planes, in which each tap is a shift."""
from libc.stdint cimport int64_t

from dispatch.kernels.cpu.conv.depthwise cimport Conv

# Whether this way is there and pays; `back`: from y to x, which needs windows side by side.
cdef bint is_direct(const Conv* c, bint back) noexcept nogil
# Threads that work on images, or slices of them, of their own.
cdef int64_t direct_parts(const Conv* c, bint back) noexcept nogil
# Bytes of the room that so many need.
cdef int64_t direct_room(const Conv* c, bint back, int64_t parts) noexcept nogil
# To y from x; `back`: to x from y, by turned weights.
cdef void direct(const Conv* convolution, float* y, const float* x, const float* w, char* room, bint back,
                 int64_t parts) noexcept nogil
