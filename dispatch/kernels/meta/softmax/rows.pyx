"""Shape functions of softmax and log_softmax: self's sizes, contiguous.

Called by the structured kernels. PyTorch's Meta kernel of `_softmax` never looks at `dim`; that of
`_log_softmax`, and the eager kernels, refuse one out of range.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_bfloat16, ST_bool, ST_float16, ST_float32
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch._C.structured cimport CAST_EXACT, CAST_SAFE, Spec


cdef int fill(Spec* s, Tensor self, bint half_to_float) noexcept:
    s.ndim = self.c_ndim
    memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    s.dtype = ST_float32 if half_to_float else self.c_dtype
    return 0


cdef int raise_half(Tensor self) except -1:
    raise refused("expected self to be float16 with half_to_float, got "
                  f"{dtypes.get_dtype(self.c_dtype)!r}")


cdef int softmax(Spec* s, Tensor self, int64_t dim, bint half_to_float) except -1:
    if half_to_float and self.c_dtype != ST_float16 and self.c_dtype != ST_bfloat16:
        raise_half(self)
    if rules.is_eager(self):
        rules.wrap_dim(dim, self.c_ndim, True)
    s.cast = CAST_SAFE
    return fill(s, self, half_to_float)


cdef int log_softmax(Spec* s, Tensor self, int64_t dim, bint half_to_float) except -1:
    if half_to_float and self.c_dtype != ST_float16:
        raise_half(self)
    rules.wrap_dim(dim, self.c_ndim, True)
    if self.c_dtype == ST_bool:
        raise refused("expected self to be floating point, got bool")
    s.cast = CAST_EXACT
    return fill(s, self, half_to_float)
