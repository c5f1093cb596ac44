from dispatch._C.tensor cimport Tensor

cdef int ema(Tensor out, Tensor self, double decay) except -1
