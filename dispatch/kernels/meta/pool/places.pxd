"""Shape functions of pools whose windows follow the output: adaptive, fractional, and of unpooling."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int fractional_max_pool2d(Spec* s, Tensor self, IntArray kernel_size, IntArray output_size,
                               Tensor random_samples) except -1
cdef int fractional_max_pool2d_backward(Spec* s, Tensor grad_output, Tensor self,
                                        IntArray kernel_size, IntArray output_size,
                                        Tensor indices) except -1
cdef int adaptive_max_pool2d(Spec* s, Tensor self, IntArray output_size) except -1
cdef int adaptive_max_pool2d_backward(Spec* s, Tensor grad_output, Tensor self,
                                      Tensor indices) except -1
cdef int adaptive_avg_pool2d(Spec* s, Tensor self, IntArray output_size) except -1
cdef int adaptive_avg_pool2d_backward(Spec* s, Tensor grad_output, Tensor self) except -1
cdef int fractional_max_pool3d(Spec* s, Tensor self, IntArray kernel_size, IntArray output_size,
                               Tensor random_samples) except -1
cdef int fractional_max_pool3d_backward(Spec* s, Tensor grad_output, Tensor self,
                                        IntArray kernel_size, IntArray output_size,
                                        Tensor indices) except -1
cdef int adaptive_max_pool3d(Spec* s, Tensor self, IntArray output_size) except -1
cdef int adaptive_max_pool3d_backward(Spec* s, Tensor grad_output, Tensor self,
                                      Tensor indices) except -1
cdef int adaptive_avg_pool3d(Spec* s, Tensor self, IntArray output_size) except -1
cdef int adaptive_avg_pool3d_backward(Spec* s, Tensor grad_output, Tensor self) except -1
cdef int max_unpool2d(Spec* s, Tensor self, Tensor indices, IntArray output_size) except -1
cdef int max_unpool3d(Spec* s, Tensor self, Tensor indices, IntArray output_size, IntArray stride,
                      IntArray padding) except -1
