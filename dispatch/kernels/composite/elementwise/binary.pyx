"""Operators of two operands that are written with other operators.

Called by the dispatcher; what they call goes through the dispatcher again. A Scalar overload is the
Tensor overload with the number as a wrapped number, a 0-d tensor that has a say only in the
category of the result's dtype.
"""
from dispatch._C.tensor cimport Tensor, new_wrapped_number
from dispatch.kernels.composite.callee cimport Callee, callee

cdef Callee ADD = callee("add", "Tensor")
cdef Callee ADD_ = callee("add_", "Tensor")
cdef Callee AND = callee("bitwise_and", "Tensor")
cdef Callee AND_ = callee("bitwise_and_", "Tensor")
cdef Callee AND_OUT = callee("bitwise_and", "Tensor_out")
cdef Callee AND_SCALAR = callee("bitwise_and", "Scalar")
cdef Callee AND_SCALAR_ = callee("bitwise_and_", "Scalar")
cdef Callee DIV = callee("div", "Tensor")
cdef Callee DIV_ = callee("div_", "Tensor")
cdef Callee DIV_MODE = callee("div", "Tensor_mode")
cdef Callee DIV_MODE_ = callee("div_", "Tensor_mode")
cdef Callee FMOD = callee("fmod", "Tensor")
cdef Callee FMOD_ = callee("fmod_", "Tensor")
cdef Callee FMOD_OUT = callee("fmod", "Tensor_out")
cdef Callee MAXIMUM = callee("maximum")
cdef Callee MAXIMUM_OUT = callee("maximum", "out")
cdef Callee MINIMUM = callee("minimum")
cdef Callee MINIMUM_OUT = callee("minimum", "out")
cdef Callee MUL = callee("mul", "Tensor")
cdef Callee MUL_OUT = callee("mul", "out")
cdef Callee OR = callee("bitwise_or", "Tensor")
cdef Callee OR_ = callee("bitwise_or_", "Tensor")
cdef Callee OR_OUT = callee("bitwise_or", "Tensor_out")
cdef Callee OR_SCALAR = callee("bitwise_or", "Scalar")
cdef Callee OR_SCALAR_ = callee("bitwise_or_", "Scalar")
cdef Callee REMAINDER = callee("remainder", "Tensor")
cdef Callee REMAINDER_ = callee("remainder_", "Tensor")
cdef Callee REMAINDER_OUT = callee("remainder", "Tensor_out")
cdef Callee SUB = callee("sub", "Tensor")
cdef Callee SUB_ = callee("sub_", "Tensor")
cdef Callee XOR = callee("bitwise_xor", "Tensor")
cdef Callee XOR_ = callee("bitwise_xor_", "Tensor")
cdef Callee XOR_OUT = callee("bitwise_xor", "Tensor_out")
cdef Callee XOR_SCALAR = callee("bitwise_xor", "Scalar")
cdef Callee XOR_SCALAR_ = callee("bitwise_xor_", "Scalar")


cdef object add_scalar(Tensor self, object other, object alpha):
    return ADD.call((self, new_wrapped_number(other), alpha))


cdef object add_scalar_(Tensor self, object other, object alpha):
    return ADD_.call((self, new_wrapped_number(other), alpha))


cdef object sub_scalar(Tensor self, object other, object alpha):
    return SUB.call((self, new_wrapped_number(other), alpha))


cdef object sub_scalar_(Tensor self, object other, object alpha):
    return SUB_.call((self, new_wrapped_number(other), alpha))


cdef object rsub(Tensor self, Tensor other, object alpha):
    return SUB.call((other, self, alpha))


cdef object rsub_scalar(Tensor self, object other, object alpha):
    return SUB.call((new_wrapped_number(other), self, alpha))


cdef object mul_scalar(Tensor self, object other):
    return MUL.call((self, new_wrapped_number(other)))


cdef object mul_scalar_(Tensor self, object other):
    return MUL_OUT.call((new_wrapped_number(other), self, self))   # PyTorch's order


cdef object div_scalar(Tensor self, object other):
    return DIV.call((self, new_wrapped_number(other)))


cdef object div_scalar_(Tensor self, object other):
    return DIV_.call((self, new_wrapped_number(other)))


cdef object div_scalar_mode(Tensor self, object other, object rounding_mode):
    return DIV_MODE.call((self, new_wrapped_number(other), rounding_mode))


cdef object div_scalar_mode_(Tensor self, object other, object rounding_mode):
    return DIV_MODE_.call((self, new_wrapped_number(other), rounding_mode))


cdef object fmod_scalar(Tensor self, object other):
    return FMOD.call((self, new_wrapped_number(other)))


cdef object fmod_scalar_(Tensor self, object other):
    return FMOD_.call((self, new_wrapped_number(other)))


cdef object fmod_scalar_out(Tensor self, object other, Tensor out):
    return FMOD_OUT.call((self, new_wrapped_number(other), out))


cdef object remainder_scalar(Tensor self, object other):
    return REMAINDER.call((self, new_wrapped_number(other)))


cdef object remainder_scalar_(Tensor self, object other):
    return REMAINDER_.call((self, new_wrapped_number(other)))


cdef object remainder_scalar_out(Tensor self, object other, Tensor out):
    return REMAINDER_OUT.call((self, new_wrapped_number(other), out))


cdef object bitwise_and_scalar(Tensor self, object other):
    return AND.call((self, new_wrapped_number(other)))


cdef object bitwise_and_scalar_(Tensor self, object other):
    return AND_.call((self, new_wrapped_number(other)))


cdef object bitwise_and_scalar_out(Tensor self, object other, Tensor out):
    return AND_OUT.call((self, new_wrapped_number(other), out))


cdef object bitwise_or_scalar(Tensor self, object other):
    return OR.call((self, new_wrapped_number(other)))


cdef object bitwise_or_scalar_(Tensor self, object other):
    return OR_.call((self, new_wrapped_number(other)))


cdef object bitwise_or_scalar_out(Tensor self, object other, Tensor out):
    return OR_OUT.call((self, new_wrapped_number(other), out))


cdef object bitwise_xor_scalar(Tensor self, object other):
    return XOR.call((self, new_wrapped_number(other)))


cdef object bitwise_xor_scalar_(Tensor self, object other):
    return XOR_.call((self, new_wrapped_number(other)))


cdef object bitwise_xor_scalar_out(Tensor self, object other, Tensor out):
    return XOR_OUT.call((self, new_wrapped_number(other), out))


cdef object and_(Tensor self, Tensor other):
    return AND.call((self, other))


cdef object and_scalar(Tensor self, object other):
    return AND_SCALAR.call((self, other))


cdef object iand(Tensor self, Tensor other):
    return AND_.call((self, other))


cdef object iand_scalar(Tensor self, object other):
    return AND_SCALAR_.call((self, other))


cdef object or_(Tensor self, Tensor other):
    return OR.call((self, other))


cdef object or_scalar(Tensor self, object other):
    return OR_SCALAR.call((self, other))


cdef object ior(Tensor self, Tensor other):
    return OR_.call((self, other))


cdef object ior_scalar(Tensor self, object other):
    return OR_SCALAR_.call((self, other))


cdef object xor_(Tensor self, Tensor other):
    return XOR.call((self, other))


cdef object xor_scalar(Tensor self, object other):
    return XOR_SCALAR.call((self, other))


cdef object ixor(Tensor self, Tensor other):
    return XOR_.call((self, other))


cdef object ixor_scalar(Tensor self, object other):
    return XOR_SCALAR_.call((self, other))


cdef object max(Tensor self, Tensor other):
    return MAXIMUM.call((self, other))


cdef object max_out(Tensor self, Tensor other, Tensor out):
    return MAXIMUM_OUT.call((self, other, out))


cdef object min(Tensor self, Tensor other):
    return MINIMUM.call((self, other))


cdef object min_out(Tensor self, Tensor other, Tensor out):
    return MINIMUM_OUT.call((self, other, out))
