"""softmax and log_softmax with an optional dtype."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef object softmax(Tensor self, int64_t dim, int dtype)
cdef object log_softmax(Tensor self, int64_t dim, int dtype)
