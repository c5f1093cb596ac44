"""Bodies of softmax, its logarithm and their gradients on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int softmax(Tensor out, Tensor self, int64_t dim, bint half_to_float, const int64_t* handed) except -1
cdef int log_softmax(Tensor out, Tensor self, int64_t dim, bint half_to_float, const int64_t* handed) except -1
cdef int softmax_backward(Tensor out, Tensor grad_output, Tensor output, int64_t dim, int input_dtype,
                          const int64_t* handed) except -1
cdef int log_softmax_backward(Tensor out, Tensor grad_output, Tensor output, int64_t dim, int input_dtype,
                              const int64_t* handed) except -1
