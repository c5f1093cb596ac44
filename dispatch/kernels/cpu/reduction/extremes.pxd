"""Bodies of extremes and their places on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int amax(Tensor out, Tensor self, IntArray dim, bint keepdim, const int64_t* handed) except -1
cdef int amin(Tensor out, Tensor self, IntArray dim, bint keepdim, const int64_t* handed) except -1
cdef int aminmax(Tensor smallest, Tensor largest, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1
cdef int max(Tensor out, Tensor self) except -1
cdef int min(Tensor out, Tensor self) except -1
cdef int argmax(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1
cdef int argmin(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1
cdef int max_dim(Tensor values, Tensor indices, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1
cdef int min_dim(Tensor values, Tensor indices, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1
