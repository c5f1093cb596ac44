"""Shape functions of softmax and log_softmax."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int softmax(Spec* s, Tensor self, int64_t dim, bint half_to_float) except -1
cdef int log_softmax(Spec* s, Tensor self, int64_t dim, bint half_to_float) except -1
cdef int softmax_backward(Spec* s, Tensor grad_output, Tensor output, int64_t dim, int input_dtype) except -1
cdef int log_softmax_backward(Spec* s, Tensor grad_output, Tensor output, int64_t dim, int input_dtype) except -1
