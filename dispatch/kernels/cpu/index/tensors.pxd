"""CPU bodies of indexing by tensors: index, index_put, index_select."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int index(Tensor out, Tensor self, list indices) except -1
cdef int index_put(Tensor out, Tensor self, list indices, Tensor values, bint accumulate) except -1
cdef int index_select(Tensor out, Tensor self, int64_t dim, Tensor index, const int64_t* handed) except -1
