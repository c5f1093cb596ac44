"""Shape functions of scans: self's sizes, contiguous; sums and products in the dtype of a sum.

Called by the structured kernels. Bodies are handed the dimension, wrapped.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport ST_NONE
from dispatch._C.structured cimport CAST_ANY, CAST_EXACT, OVERLAP_ANY, Spec
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise.pointwise cimport CAST_SAME


cdef int fill(Spec* s, Tensor self, int64_t dim, int code, int cast) except -1:
    s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    s.ndim = self.c_ndim
    memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    s.dtype = code
    s.cast = cast
    return 0


cdef int cumsum(Spec* s, Tensor self, int64_t dim, int dtype) except -1:
    """A given output decides the dtype unless the caller named one."""
    cdef int cast = CAST_ANY if dtype == ST_NONE else CAST_EXACT
    return fill(s, self, dim, rules.sum_type(self.c_dtype, dtype), cast if rules.is_eager(self) else cast | OVERLAP_ANY)


cdef int logcumsumexp(Spec* s, Tensor self, int64_t dim) except -1:
    return fill(s, self, dim, self.c_dtype, CAST_SAME if rules.is_eager(self) else CAST_EXACT)
