"""Shape functions of joining tensors."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec

cdef int cat(Spec* s, list tensors, int64_t dim) except -1
cdef int stack(Spec* s, list tensors, int64_t dim) except -1
