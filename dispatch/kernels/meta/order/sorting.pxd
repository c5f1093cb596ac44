"""Shape functions of sort and topk."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int sort(Spec* s, Tensor self, object stable, int64_t dim, bint descending) except -1
cdef int topk(Spec* s, Tensor self, int64_t k, int64_t dim, bint largest, bint sorted) except -1
