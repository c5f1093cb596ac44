"""CPU bodies of joining tensors."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int cat(Tensor out, list tensors, int64_t dim) except -1
cdef int stack(Tensor out, list tensors, int64_t dim) except -1
