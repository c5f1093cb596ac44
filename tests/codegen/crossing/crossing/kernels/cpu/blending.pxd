from dispatch._C.tensor cimport Tensor

cdef int blend(Tensor out, Tensor self, Tensor other, object alpha) except -1
