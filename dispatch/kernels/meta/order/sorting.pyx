"""Shape functions of sort and topk: values and their indices.

Called by the structured kernels. Bodies are handed the dimension, wrapped.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_bool, ST_int64, is_complex_code
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport CAST_EXACT, CAST_SAFE, OVERLAP_ANY, OVERLAP_SELF, RESTRIDE, Spec
from dispatch._C.symbolic cimport expect_ge, expect_le, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules


cdef int check_ordered(Tensor self) except -1:
    """Complex numbers have no order; PyTorch looks when there are some."""
    if is_complex_code(self.c_dtype) and rules.is_eager(self):
        raise refused(f"Sort does not support complex dtypes on CPU, got {dtypes.get_dtype(self.c_dtype)!r}")
    return 0


cdef int sort(Spec* s, Tensor self, object stable, int64_t dim, bint descending) except -1:
    """Strides are those of a clone; on Meta, `values` and `indices` that are given get them too."""
    cdef int i
    s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    check_ordered(self)
    for i in range(2):
        s[i].ndim = self.c_ndim
        memcpy(s[i].sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
        rules.empty_like_strides(s[i].strides, self)
        s[i].has_strides = True
        s[i].dtype = ST_int64 if i else self.c_dtype
        s[i].cast = CAST_EXACT | OVERLAP_SELF if rules.is_eager(self) else CAST_SAFE | OVERLAP_ANY | RESTRIDE
    return 0


cdef int topk(Spec* s, Tensor self, int64_t k, int64_t dim, bint largest, bint sorted) except -1:
    """The `k` first of a sort along `dim`; contiguous."""
    cdef int64_t along = rules.wrap_dim(dim, self.c_ndim, True)
    cdef int64_t size = self.c_sizes[along] if self.c_ndim else 1
    cdef int i
    if not expect_ge(k, 0) or not expect_le(k, size):
        raise refused(f"selected index k out of range: expected 0 to {size_object(size)}, got {size_object(k)}")
    s.handed[0] = along
    check_ordered(self)
    if self.c_dtype == ST_bool and rules.is_eager(self):
        raise refused("self of dtype bool is not supported")
    for i in range(2):
        s[i].ndim = self.c_ndim
        memcpy(s[i].sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
        if self.c_ndim:
            s[i].sizes[along] = k
        s[i].dtype = ST_int64 if i else self.c_dtype
        s[i].cast = CAST_EXACT | OVERLAP_SELF
    return 0
