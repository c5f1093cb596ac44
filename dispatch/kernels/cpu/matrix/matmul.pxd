"""Bodies of matrix products on the CPU."""
from dispatch._C.tensor cimport Tensor

cdef int mm(Tensor out, Tensor self, Tensor mat2) except -1
cdef int bmm(Tensor out, Tensor self, Tensor mat2) except -1
cdef int mv(Tensor out, Tensor self, Tensor vec) except -1
cdef int dot(Tensor out, Tensor self, Tensor tensor) except -1
cdef int addmm(Tensor out, Tensor self, Tensor mat1, Tensor mat2, object beta,
               object alpha) except -1
cdef int addmv(Tensor out, Tensor self, Tensor mat, Tensor vec, object beta,
               object alpha) except -1
cdef int baddbmm(Tensor out, Tensor self, Tensor batch1, Tensor batch2, object beta,
                 object alpha) except -1
