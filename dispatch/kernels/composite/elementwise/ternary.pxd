"""Composite kernels of three operands: `where` with numbers."""
from dispatch._C.tensor cimport Tensor

cdef object where_scalar_self(Tensor condition, object self, Tensor other)
cdef object where_scalar_other(Tensor condition, Tensor self, object other)
cdef object where_scalar(Tensor condition, object self, object other)
