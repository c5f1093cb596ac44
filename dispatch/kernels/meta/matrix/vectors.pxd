"""Shape functions of products of vectors."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int cross(Spec* s, Tensor self, Tensor other, int64_t dim) except -1
