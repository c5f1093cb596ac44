"""Operators of one tensor that are written with other operators.

Called by the dispatcher; what they call goes through the dispatcher again, so modes and subclasses
see the same calls as in PyTorch, in the same order.
"""
from libc.stdint cimport uint64_t

from dispatch._C.dtypes cimport (
    MF_preserve, ST_bool, get_dtype, get_memory_format, is_complex_code, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee

cdef Callee ABS = callee("abs")
cdef Callee ABS_OUT = callee("abs", "out")
cdef Callee AND_ = callee("bitwise_and_", "Tensor")
cdef Callee CLONE = callee("clone")
cdef Callee CONJ = callee("conj")
cdef Callee CONJ_PHYSICAL = callee("_conj_physical")
cdef Callee CONJ_PHYSICAL_OUT = callee("conj_physical", "out")
cdef Callee EMPTY_LIKE = callee("empty_like")
cdef Callee EQ = callee("eq", "Tensor")
cdef Callee IMAG = callee("imag")
cdef Callee MUL = callee("mul", "Tensor")
cdef Callee NE = callee("ne", "Scalar")
cdef Callee ONES_LIKE = callee("ones_like")
cdef Callee POW = callee("pow", "Tensor_Scalar")
cdef Callee POW_ = callee("pow_", "Scalar")
cdef Callee POW_OUT = callee("pow", "Tensor_Scalar_out")
cdef Callee REAL = callee("real")


cdef object abs_(Tensor self):
    if is_complex_code(self.c_dtype):
        raise refused("self must not be complex, its absolute value is real")
    return ABS_OUT.call((self, self))


cdef object conj_physical(Tensor self):
    return CONJ_PHYSICAL.call((self,)) if is_complex_code(self.c_dtype) else self


cdef object _conj_physical(Tensor self):
    """Not handed to the conjugate key's fallback: what that works out first would be conjugated twice."""
    if self.c_keys & KS_Conjugate & ~<uint64_t>0xFFFF:
        return CLONE.call((CONJ.call((self,)), None))
    return CONJ_PHYSICAL_OUT.call((self, EMPTY_LIKE.call((self, None, None, None, None, None))))


cdef object is_finite_real(object self):
    bounded = NE.call((ABS.call((self,)), float("inf")))
    return MUL.call((EQ.call((self, self)), bounded))      # a NaN differs from itself


cdef object isfinite(Tensor self):
    if is_integral_code(self.c_dtype, True):
        return ONES_LIKE.call((self, get_dtype(ST_bool), None, None, None,
                               get_memory_format(MF_preserve)))
    if not is_complex_code(self.c_dtype):
        return is_finite_real(self)
    real = is_finite_real(REAL.call((self,)))
    return AND_.call((real, is_finite_real(IMAG.call((self,)))))


cdef object square(Tensor self):
    return POW.call((self, 2))


cdef object square_(Tensor self):
    return POW_.call((self, 2))


cdef object square_out(Tensor self, Tensor out):
    return POW_OUT.call((self, 2, out))
