"""Bodies of reductions on the CPU, over numpy.

Called by the structured kernels with an output of the right size and dtype. Input is converted to
the output's dtype first, as PyTorch's CPU kernels do; half precision adds in float32 and is rounded
once, and float32 adds in float64 where numpy would add a long column term by term.
"""
cimport numpy as cnp
from libc.stdint cimport int64_t

import numpy as np

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_bfloat16, ST_complex32, ST_float16, ST_float32, is_floating_code, is_integral_code,
)
from dispatch._C.tensor cimport TF_CONTIGUOUS, Tensor, get_numpy, new_empty
from dispatch.kernels.cpu.copy cimport copy_array, copy_values
from dispatch.kernels.meta.reduce cimport read_dims

cnp.import_array()

cdef enum:
    LONG_COLUMN = 256            # terms that float32 may add one by one

cdef object ADD = np.add.reduce


cdef int check_dtype(int code) except -1:
    if code == ST_complex32 or is_floating_code(code) and code > ST_bfloat16:
        raise NotImplementedError(f"aten::sum: no CPU kernel for {dtypes.get_dtype(code)!r}")
    return 0


cdef object values_of(Tensor self, int code):
    """self's values in the dtype that they are added in; `code` is the output's."""
    cdef Tensor given = self
    if self.c_dtype != code and not (is_integral_code(self.c_dtype, True)
                                     and is_integral_code(code, False)):
        given = new_empty(code, 0, -1, self.c_ndim, self.c_sizes, NULL)
        copy_values(given, self)
    values = get_numpy(given)
    return values.astype(np.float32) if code == ST_float16 or code == ST_bfloat16 else values


cdef bint adds_long_columns(Tensor self, tuple axes) noexcept:
    """Whether the innermost dimension stays while many terms are added."""
    cdef int64_t count = 1
    cdef object axis
    if self.c_ndim == 0 or self.c_ndim - 1 in axes and self.c_flags & TF_CONTIGUOUS:
        return False
    for axis in axes:
        count *= self.c_sizes[<int>axis]
    return count > LONG_COLUMN


cdef object accumulator(Tensor out, Tensor self, tuple axes):
    """The dtype to add in."""
    cdef int code = out.c_dtype
    if code == ST_float32 and adds_long_columns(self, axes):
        return np.float64
    if code == ST_float16 or code == ST_bfloat16 or code == ST_float32:
        return np.float32
    return dtypes.numpy_descr(code)


cdef int add_axes(Tensor out, Tensor self, tuple axes, bint keepdim) except -1:
    cdef int code = out.c_dtype
    check_dtype(code)
    check_dtype(self.c_dtype)
    kind = accumulator(out, self, axes)
    values = values_of(self, code)
    if is_integral_code(code, True):
        ADD(values, axes, kind, get_numpy(out), keepdim)
        return 0
    with np.errstate(all="ignore"):
        copy_array(out, np.asarray(ADD(values, axes, kind, None, keepdim)))
    return 0


cdef int sum(Tensor out, Tensor self, int dtype) except -1:
    return add_axes(out, self, tuple(range(self.c_ndim)), False)


cdef int sum_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype) except -1:
    cdef int64_t dims[64]
    cdef int n = read_dims(dims, self, dim)
    if n == 0 or self.c_ndim == 0:
        return add_axes(out, self, tuple(range(self.c_ndim)), keepdim)
    return add_axes(out, self, tuple([dims[i] for i in range(n)]), keepdim)
