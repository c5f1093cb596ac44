"""Bodies of products of vectors."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int cross(Tensor out, Tensor self, Tensor other, int64_t dim, const int64_t* handed) except -1
