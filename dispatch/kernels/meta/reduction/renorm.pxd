"""Shape function of renorm."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int renorm(Spec* s, Tensor self, object p, int64_t dim, object maxnorm) except -1
