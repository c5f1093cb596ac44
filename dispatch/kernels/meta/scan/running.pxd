"""Shape functions of scans."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int cumsum(Spec* s, Tensor self, int64_t dim, int dtype) except -1
cdef int logcumsumexp(Spec* s, Tensor self, int64_t dim) except -1
