"""Complex numbers from two parts, for tensors of all kinds: an output of their dtype, which the out variant fills."""
from dispatch._C.dtypes cimport ST_NONE, ST_complex64, get_dtype, is_floating_code
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.fft.transforms cimport check_pair, complex_of

cdef Callee EMPTY = callee("empty", "memory_format")
cdef Callee COMPLEX_OUT = callee("complex", "out")
cdef Callee POLAR_OUT = callee("polar", "out")


cdef Tensor paired(Tensor first, Tensor second):
    """An empty tensor for the result. PyTorch's fake tensors promote any floats."""
    cdef int code, kind
    if not rules.is_eager(first) and is_floating_code(first.c_dtype) and is_floating_code(second.c_dtype):
        code = rules.promoted(first.c_dtype, second.c_dtype)
        if (first.c_ndim == 0) != (second.c_ndim == 0):
            code = first.c_dtype if first.c_ndim else second.c_dtype
        kind = ST_complex64 if complex_of(code) == ST_NONE else complex_of(code)
        return EMPTY.call(([0], get_dtype(kind), None, first.device))
    check_pair(first, second)
    return EMPTY.call(([0], get_dtype(complex_of(first.c_dtype)), None, first.device))


def complex(Tensor real not None, Tensor imag not None):
    """A complex tensor from its parts."""
    return COMPLEX_OUT.call((real, imag, paired(real, imag)))


def polar(Tensor abs not None, Tensor angle not None):
    """A complex tensor from lengths and angles."""
    return POLAR_OUT.call((abs, angle, paired(abs, angle)))
