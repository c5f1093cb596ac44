"""mean over everything."""
from dispatch._C.tensor cimport Tensor

cdef object mean(Tensor self, int dtype)
