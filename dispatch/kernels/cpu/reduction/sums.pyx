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
    ST_NONE, ST_bfloat16, ST_complex32, ST_float16, ST_float32, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, get_numpy, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_array, copy_values, fill_values
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.reduction.reduce cimport read_dims

cnp.import_array()

cdef enum:
    LONG_COLUMN = 256            # terms that float32 may add one by one

cdef object ADD = np.add.reduce


cdef int check_dtype(int code) except -1:
    """`code` is the output's: input is converted first, from any dtype."""
    if code == ST_complex32 or code > ST_bfloat16:
        raise refused(f"no CPU kernel for {dtypes.get_dtype(code)!r}", NotImplementedError)
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


cdef int clear(Tensor out) except -1:
    return fill_values(out, 0)


cdef int add_axes(Tensor out, Tensor self, tuple axes, bint keepdim) except -1:
    cdef int code = out.c_dtype
    if self.c_numel == 0:
        return clear(out)
    check_dtype(code)
    kind = accumulator(out, self, axes)
    values = values_of(self, code)
    if is_integral_code(code, True):
        ADD(values, axes, kind, get_numpy(out), keepdim)
        return 0
    with np.errstate(all="ignore"):
        copy_array(out, np.asarray(ADD(values, axes, kind, None, keepdim)))
    return 0


cdef tuple axes_of(Tensor self, object dim):
    """No dimensions mean all of them."""
    cdef int64_t dims[64]
    cdef int n = read_dims(dims, self, dim)
    if n == 0 or self.c_ndim == 0:
        return tuple(range(self.c_ndim))
    return tuple([dims[i] for i in range(n)])


cdef int check_out(Tensor out, int code) except -1:
    """Where the shape function lets any dtype pass, as PyTorch's does."""
    if out.c_dtype != code:
        raise refused(f"expected out to have dtype {dtypes.get_dtype(code)!r}, got "
                      f"{dtypes.get_dtype(out.c_dtype)!r}")
    return 0


cdef int sum(Tensor out, Tensor self, int dtype) except -1:
    check_out(out, rules.sum_type(self.c_dtype, dtype))
    return add_axes(out, self, tuple(range(self.c_ndim)), False)


cdef int sum_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype) except -1:
    if out is self:              # PyTorch clears the output before it reads
        return clear(out)
    return add_axes(out, self, axes_of(self, dim), keepdim)


cdef int mean_dim(Tensor out, Tensor self, object dim, bint keepdim, int dtype) except -1:
    """The sum over the count: half precision is not rounded in between, nor is input to it."""
    cdef int code = out.c_dtype
    cdef tuple axes = axes_of(self, dim)
    cdef int64_t count = 1
    cdef bint narrow = code == ST_float16 or code == ST_bfloat16
    if dtype != ST_NONE:
        check_out(out, dtype)
    check_dtype(code)
    if out is self and not narrow:
        return clear(out)
    for axis in axes:
        count *= self.c_sizes[<int>axis]
    kind = accumulator(out, self, axes)
    with np.errstate(all="ignore"):
        values = values_of(self, ST_float32 if narrow else code)
        total = np.asarray(ADD(values, axes, kind, None, keepdim))
        copy_array(out, np.asarray(np.true_divide(total, count, dtype=total.dtype)))
    return 0
