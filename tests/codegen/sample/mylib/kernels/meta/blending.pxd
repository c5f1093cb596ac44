cdef int blend(Spec* out, Tensor self, Tensor other, object alpha) except -1
