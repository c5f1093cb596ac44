"""CPU bodies of reading and writing by masks, and of finding what is not 0."""
from dispatch._C.tensor cimport Tensor

cdef int masked_fill(Tensor out, Tensor self, Tensor mask, Tensor value) except -1
cdef int masked_fill_scalar(Tensor out, Tensor self, Tensor mask, object value) except -1
cdef int masked_scatter(Tensor out, Tensor self, Tensor mask, Tensor source) except -1
cdef object masked_select(Tensor self, Tensor mask)
cdef object masked_select_out(Tensor self, Tensor mask, Tensor out)
cdef object nonzero(Tensor self)
cdef object nonzero_out(Tensor self, Tensor out)
