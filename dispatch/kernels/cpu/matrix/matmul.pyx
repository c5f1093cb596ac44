"""Bodies of matrix products on the CPU, over numpy.

Called by the structured kernels with an output of the right size and dtype. Floats of 16 and
8 bits are multiplied in float32 and rounded once; integers wrap.
"""
cimport numpy as cnp

import numpy as np

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_bfloat16, ST_bool, ST_complex32, ST_float16, ST_uint16, ST_uint64, is_floating_code,
    is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate
from dispatch._C.tensor cimport Tensor, get_numpy
from dispatch.kernels.cpu.copy.copies cimport copy_array, fill_values

cnp.import_array()

cdef object MATMUL = np.matmul


cdef int check_dtype(int code) except -1:
    if code == ST_bool or code == ST_complex32 or ST_uint16 <= code <= ST_uint64:
        raise refused(f"no CPU kernel for {dtypes.get_dtype(code)!r}", NotImplementedError)
    return 0


cdef inline bint is_narrow(int code) noexcept:
    return code == ST_float16 or is_floating_code(code) and code >= ST_bfloat16


cdef object operand(Tensor t):
    """A matrix that BLAS takes as it is: rows or columns without gaps between elements."""
    values = get_numpy(t)
    if t.c_keys & KS_Conjugate == KS_Conjugate:
        values = np.conjugate(values)
    if is_narrow(t.c_dtype):
        return values.astype(np.float32)
    if t.c_strides[0] != 1 and t.c_strides[1] != 1:
        return np.ascontiguousarray(values)
    return values


cdef int mm(Tensor out, Tensor self, Tensor mat2) except -1:
    if out.c_numel == 0 or self.c_numel == 0:       # of any dtype: nothing is multiplied
        return fill_values(out, 0) if out.c_numel else 0
    check_dtype(self.c_dtype)
    if is_integral_code(self.c_dtype, False):
        MATMUL(operand(self), operand(mat2), get_numpy(out))
        return 0
    with np.errstate(all="ignore"):
        if is_narrow(self.c_dtype):
            copy_array(out, MATMUL(operand(self), operand(mat2)))
        else:
            MATMUL(operand(self), operand(mat2), get_numpy(out))
    return 0
