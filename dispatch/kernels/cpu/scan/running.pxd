"""Bodies of scans on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int cumsum(Tensor out, Tensor self, int64_t dim, int dtype, const int64_t* handed) except -1
cdef int cumprod(Tensor out, Tensor self, int64_t dim, int dtype, const int64_t* handed) except -1
cdef int logcumsumexp(Tensor out, Tensor self, int64_t dim, const int64_t* handed) except -1
