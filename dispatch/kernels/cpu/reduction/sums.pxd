"""Bodies of reductions on the CPU."""
from dispatch._C.tensor cimport Tensor

cdef int sum(Tensor out, Tensor self, int dtype) except -1
cdef int sum_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype) except -1
cdef int mean_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype) except -1
