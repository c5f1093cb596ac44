"""CPU bodies of elementwise operators of one tensor.

Called by the structured adapters after the shape function; `loops` does the work.
"""
import numpy

from dispatch._C.dtypes cimport DTYPES_COMPLEX, DTYPES_FLOAT8, DTYPES_RARE
from dispatch._C.tensor cimport Tensor, new_wrapped_number
from dispatch.kernels.cpu.loops cimport Ufunc, new_ufunc, run_binary, run_unary
from dispatch.kernels.meta cimport rules

cdef Ufunc EXP = new_ufunc(numpy.exp, DTYPES_FLOAT8)
cdef Ufunc MAXIMUM = new_ufunc(numpy.maximum, DTYPES_RARE | DTYPES_COMPLEX)
cdef Ufunc NEG = new_ufunc(numpy.negative, DTYPES_RARE)
cdef Tensor ZERO = new_wrapped_number(0)


cdef int exp(Tensor out, Tensor self) except -1:
    return run_unary(EXP, out, self, rules.float_type(self.c_dtype))


cdef int neg(Tensor out, Tensor self) except -1:
    return run_unary(NEG, out, self, self.c_dtype)


cdef int relu(Tensor out, Tensor self) except -1:
    return run_binary(MAXIMUM, out, self, ZERO, self.c_dtype)
