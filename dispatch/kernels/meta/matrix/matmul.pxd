"""Shape functions of matrix products."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int mm(Spec* s, Tensor self, Tensor mat2) except -1
cdef int bmm(Spec* s, Tensor self, Tensor mat2) except -1
cdef int mv(Spec* s, Tensor self, Tensor vec) except -1
cdef int dot(Spec* s, Tensor self, Tensor tensor) except -1
cdef int addmm(Spec* s, Tensor self, Tensor mat1, Tensor mat2, object beta,
               object alpha) except -1
cdef int addmv(Spec* s, Tensor self, Tensor mat, Tensor vec, object beta, object alpha) except -1
cdef int baddbmm(Spec* s, Tensor self, Tensor batch1, Tensor batch2, object beta,
                 object alpha) except -1
cdef int grouped_mm(Spec* s, Tensor self, Tensor mat2, Tensor offs, Tensor bias,
                    int out_dtype) except -1
