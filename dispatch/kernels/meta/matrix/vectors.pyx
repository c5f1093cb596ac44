"""Shape functions of products of vectors: both broadcast. Bodies are handed the dimension, wrapped."""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.structured cimport COPIED, OVERLAP_NONE, Spec
from dispatch._C.symbolic cimport ne
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules


cdef int cross(Spec* s, Tensor self, Tensor other, int64_t dim) except -1:
    """Size 3 along `dim`."""
    cdef PyObject* items[2]
    if self.c_ndim != other.c_ndim:
        raise refused(f"inputs must have the same number of dimensions, got {list(self.shape)} and {list(other.shape)}")
    given = dim
    dim = s.handed[0] = rules.wrap_dim(dim, self.c_ndim, False)
    if ne(self.c_sizes[dim], 3) or ne(other.c_sizes[dim], 3):
        raise refused(f"inputs dimension {given} must have length 3, got {list(self.shape)} and {list(other.shape)}")
    items[0], items[1] = <PyObject*>self, <PyObject*>other
    s.dtype = self.c_dtype if rules.is_eager(self) else rules.result_type(items, 2)
    s.ndim = rules.broadcast(s.sizes, items, 2)
    s.cast = COPIED | OVERLAP_NONE
    return 0
