"""Shape functions of reading and writing by index and by mask."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int index(Spec* s, Tensor self, list indices) except -1
cdef int index_put(Spec* s, Tensor self, list indices, Tensor values, bint accumulate) except -1
cdef int index_add(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor source, object alpha) except -1
cdef int index_select(Spec* s, Tensor self, int64_t dim, Tensor index) except -1
cdef int gather(Spec* s, Tensor self, int64_t dim, Tensor index, bint sparse_grad) except -1
cdef int scatter(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor src) except -1
cdef int scatter_value(Spec* s, Tensor self, int64_t dim, Tensor index, object value) except -1
cdef int scatter_reduce(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce,
                        bint include_self) except -1
cdef int scatter_combine(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce) except -1
cdef int scatter_combine_value(Spec* s, Tensor self, int64_t dim, Tensor index, object value, object reduce) except -1
cdef int masked_fill(Spec* s, Tensor self, Tensor mask, Tensor value) except -1
cdef int masked_fill_scalar(Spec* s, Tensor self, Tensor mask, object value) except -1
cdef int masked_scatter(Spec* s, Tensor self, Tensor mask, Tensor source) except -1
cdef object nonzero(Tensor self)
cdef object nonzero_out(Tensor self, Tensor out)
