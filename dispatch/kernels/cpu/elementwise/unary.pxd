"""CPU bodies of elementwise operators of one tensor: each fills `out`, of the right sizes."""
from dispatch._C.tensor cimport Tensor

cdef int exp(Tensor out, Tensor self) except -1
cdef int neg(Tensor out, Tensor self) except -1
cdef int relu(Tensor out, Tensor self) except -1
