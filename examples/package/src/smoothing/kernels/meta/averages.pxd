from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int ema(Spec* out, Tensor self, double decay) except -1
