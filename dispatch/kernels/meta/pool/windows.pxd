"""Windows of pools and convolutions along one to three dimensions: how they lie, how many there are.

Who calls: shape functions, which hand them over to their bodies. The last dimensions come last
in every array; those that a tensor has not hold a window of one element.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.symbolic cimport SIZE_ERROR
from dispatch._C.values cimport IntArray

cdef struct Windows:
    int64_t dims
    int64_t kernel[3]
    int64_t stride[3]
    int64_t padding[3]
    int64_t dilation[3]

# In Spec.handed, and from there.
cdef inline void hand_windows(int64_t* handed, const Windows* w) noexcept:
    memcpy(handed, w, sizeof(Windows))

cdef inline void handed_windows(Windows* w, const int64_t* handed) noexcept:
    memcpy(w, handed, sizeof(Windows))

# Argument by argument one number or `dims`; no stride: windows lie side by side. RuntimeError.
cdef int read_windows(Windows* w, int dims, IntArray kernel_size, IntArray stride, IntArray padding) except -1
cdef int read_dilation(Windows* w, IntArray dilation) except -1
# Positions along dimension i of an input of this size, windows that reach beyond it included under ceil_mode.
cdef int64_t output_length(const Windows* w, int i, int64_t size, bint ceil_mode) except? SIZE_ERROR
# Raise RuntimeError.
cdef int check_windows(const Windows* w) except -1
