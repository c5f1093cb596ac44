"""Bodies of reductions on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int sum(Tensor out, Tensor self, int dtype) except -1
cdef int sum_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype, const int64_t* handed) except -1
cdef int nansum(Tensor out, Tensor self, object dim, bint keepdim, int dtype, const int64_t* handed) except -1
cdef int mean_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype, const int64_t* handed) except -1
cdef int prod(Tensor out, Tensor self, int dtype) except -1
cdef int prod_dim(Tensor out, Tensor self, int64_t dim, bint keepdim, int dtype, const int64_t* handed) except -1
cdef int hash_tensor(Tensor out, Tensor self, IntArray dim, bint keepdim, int64_t mode, const int64_t* handed) except -1
cdef int count_nonzero(Tensor out, Tensor self, IntArray dim, const int64_t* handed) except -1
cdef int any_all(Tensor out, Tensor self) except -1
cdef int any_dim(Tensor out, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1
cdef int any_dims(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1
cdef int all_all(Tensor out, Tensor self) except -1
cdef int all_dim(Tensor out, Tensor self, int64_t dim, bint keepdim, const int64_t* handed) except -1
cdef int all_dims(Tensor out, Tensor self, object dim, bint keepdim, const int64_t* handed) except -1
