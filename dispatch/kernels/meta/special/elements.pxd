"""Shape functions of special functions: elementwise, of floating-point numbers; others count as the default dtype."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int unary(Spec* s, Tensor self) except -1
cdef int binary(Spec* s, Tensor self, Tensor other) except -1
cdef int polygamma(Spec* s, int64_t n, Tensor self) except -1
