"""CPU bodies of elementwise operators of one tensor.

Called by the structured adapters after the shape function; `loops` does the work.
"""
import numpy

from libc.stdint cimport int32_t, int64_t

from dispatch._C.dtypes cimport (
    DTYPES_COMPLEX, DTYPES_FLOAT8, DTYPES_RARE, ST_COUNT, ST_float32, ST_float64, ST_int32, ST_int64,
)
from dispatch._C.tensor cimport Tensor, new_wrapped_number
from dispatch.kernels.cpu.loops cimport Ufunc, inner_loop, new_ufunc, run_binary, run_unary
from dispatch.kernels.meta cimport rules

cdef Ufunc EXP = new_ufunc(numpy.exp, DTYPES_FLOAT8)
cdef Ufunc MAXIMUM = new_ufunc(numpy.maximum, DTYPES_RARE | DTYPES_COMPLEX)
cdef Ufunc NEG = new_ufunc(numpy.negative, DTYPES_RARE)
cdef Tensor ZERO = new_wrapped_number(0)


# ---- neg ---------------------------------------------------------------------------------------
# numpy's loops (2.4) negate wrong elements of some strided operands: np.negative(v, out=v) of a column of 4 float32. So these are
# ours, and what is contiguous goes on to numpy's.

ctypedef fused number:
    float
    double
    int32_t
    int64_t

cdef inner_loop plain_neg[ST_COUNT]


cdef inline void negated(number* source, number* target, Py_ssize_t n, const Py_ssize_t* steps) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        target[0] = -source[0]
        source = <number*>(<char*>source + steps[0])
        target = <number*>(<char*>target + steps[1])


cdef void neg_float32(char** p, const Py_ssize_t* count, const Py_ssize_t* steps, void* data) noexcept nogil:
    if steps[0] == steps[1] == sizeof(float):
        plain_neg[ST_float32](p, count, steps, data)
    else:
        negated(<float*>p[0], <float*>p[1], count[0], steps)


cdef void neg_float64(char** p, const Py_ssize_t* count, const Py_ssize_t* steps, void* data) noexcept nogil:
    if steps[0] == steps[1] == sizeof(double):
        plain_neg[ST_float64](p, count, steps, data)
    else:
        negated(<double*>p[0], <double*>p[1], count[0], steps)


cdef void neg_int32(char** p, const Py_ssize_t* count, const Py_ssize_t* steps, void* data) noexcept nogil:
    if steps[0] == steps[1] == sizeof(int32_t):
        plain_neg[ST_int32](p, count, steps, data)
    else:
        negated(<int32_t*>p[0], <int32_t*>p[1], count[0], steps)


cdef void neg_int64(char** p, const Py_ssize_t* count, const Py_ssize_t* steps, void* data) noexcept nogil:
    if steps[0] == steps[1] == sizeof(int64_t):
        plain_neg[ST_int64](p, count, steps, data)
    else:
        negated(<int64_t*>p[0], <int64_t*>p[1], count[0], steps)


cdef int take_loop(int code, inner_loop loop) except -1:
    plain_neg[code] = NEG.loops[code]
    NEG.loops[code] = loop
    return 0


take_loop(ST_float32, neg_float32)
take_loop(ST_float64, neg_float64)
take_loop(ST_int32, neg_int32)
take_loop(ST_int64, neg_int64)


# ---- bodies ------------------------------------------------------------------------------------


cdef int exp(Tensor out, Tensor self) except -1:
    return run_unary(EXP, out, self, rules.float_type(self.c_dtype))


cdef int neg(Tensor out, Tensor self) except -1:
    return run_unary(NEG, out, self, self.c_dtype)


cdef int relu(Tensor out, Tensor self) except -1:
    return run_binary(MAXIMUM, out, self, ZERO, self.c_dtype)
