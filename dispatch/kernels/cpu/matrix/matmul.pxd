"""Bodies of matrix products on the CPU."""
from dispatch._C.tensor cimport Tensor

cdef int mm(Tensor out, Tensor self, Tensor mat2) except -1
