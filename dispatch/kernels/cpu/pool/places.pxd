"""Bodies of adaptive and fractional pools, of unpooling, and of their gradients."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int fractional_max_pool2d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size,
                               IntArray output_size, Tensor random_samples) except -1
cdef int fractional_max_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                        IntArray kernel_size, IntArray output_size,
                                        Tensor indices) except -1
cdef int adaptive_max_pool2d(Tensor out, Tensor indices, Tensor self,
                             IntArray output_size) except -1
cdef int adaptive_max_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                      Tensor indices) except -1
cdef int adaptive_avg_pool2d(Tensor out, Tensor self, IntArray output_size) except -1
cdef int adaptive_avg_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self) except -1
cdef int fractional_max_pool3d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size,
                               IntArray output_size, Tensor random_samples) except -1
cdef int fractional_max_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                        IntArray kernel_size, IntArray output_size,
                                        Tensor indices) except -1
cdef int adaptive_max_pool3d(Tensor out, Tensor indices, Tensor self,
                             IntArray output_size) except -1
cdef int adaptive_max_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                                      Tensor indices) except -1
cdef int adaptive_avg_pool3d(Tensor out, Tensor self, IntArray output_size) except -1
cdef int adaptive_avg_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self) except -1
cdef int max_unpool2d(Tensor out, Tensor self, Tensor indices, IntArray output_size) except -1
cdef int max_unpool3d(Tensor out, Tensor self, Tensor indices, IntArray output_size,
                      IntArray stride, IntArray padding) except -1

# ---- for other pools

# Each gradient to the element whose index it has; indices outside a plane are passed over, or an error (`strict`).
cdef int scatter_gradients(Tensor grad_input, Tensor grad_output, Tensor indices, int dims, bint strict=*) except -1
