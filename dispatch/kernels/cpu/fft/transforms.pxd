"""Bodies of Fourier transforms."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int c2c(Tensor out, Tensor self, IntArray dim, int64_t normalization, bint forward, const int64_t* handed) except -1
cdef int r2c(Tensor out, Tensor self, IntArray dim, int64_t normalization, bint onesided, const int64_t* handed) except -1
cdef int c2r(Tensor out, Tensor self, IntArray dim, int64_t normalization, int64_t last_dim_size, const int64_t* handed) except -1
