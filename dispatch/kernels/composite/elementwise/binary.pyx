"""Operators of two operands that are written with other operators, where the operands change places.

Called by the dispatcher; what they call goes through the dispatcher again. A number beside a tensor is a wrapped one, a 0-d tensor
that has a say only in the category of the result's dtype. Scalar overloads that keep the order are `number_of` in the YAML.
"""
from dispatch._C.arrays cimport new_wrapped_number
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee

cdef Callee MUL_OUT = callee("mul", "out")
cdef Callee SUB = callee("sub", "Tensor")


cdef object mul_scalar_(Tensor self, object other):
    return MUL_OUT.call((new_wrapped_number(other), self, self))   # PyTorch's order


cdef object rsub(Tensor self, Tensor other, object alpha):
    return SUB.call((other, self, alpha))


cdef object rsub_scalar(Tensor self, object other, object alpha):
    return SUB.call((new_wrapped_number(other), self, alpha))
