"""Composite kernels of one tensor."""
from dispatch._C.tensor cimport Tensor

cdef object _conj_physical(Tensor self)
cdef object abs_(Tensor self)
cdef object conj_physical(Tensor self)
cdef object isfinite(Tensor self)
cdef object square(Tensor self)
cdef object square_(Tensor self)
cdef object square_out(Tensor self, Tensor out)
