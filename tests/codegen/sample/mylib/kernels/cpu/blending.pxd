cdef int blend(Tensor out, Tensor self, Tensor other, object alpha, const int64_t* handed) except -1
