"""Composite kernels of two operands that change places."""
from dispatch._C.tensor cimport Tensor

cdef object mul_scalar_(Tensor self, object other)
cdef object rsub(Tensor self, Tensor other, object alpha)
cdef object rsub_scalar(Tensor self, object other, object alpha)
