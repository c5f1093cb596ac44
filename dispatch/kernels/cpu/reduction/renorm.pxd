"""Body of renorm."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int renorm(Tensor out, Tensor self, object p, int64_t dim, object maxnorm) except -1
