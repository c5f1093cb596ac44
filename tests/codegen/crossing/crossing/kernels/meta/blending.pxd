from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int blend(Spec* out, Tensor self, Tensor other, object alpha) except -1
cdef int split(Spec* out, Tensor self) except -1
