cdef object scale(Tensor self, double factor, IntArray pad, int dtype)
