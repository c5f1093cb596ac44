"""Bodies of pools whose windows have one size, and of their gradients."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int avg_pool2d(Tensor out, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding, bint ceil_mode,
                    bint count_include_pad, object divisor_override, const int64_t* handed) except -1
cdef int avg_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self, IntArray kernel_size, IntArray stride,
                             IntArray padding, bint ceil_mode, bint count_include_pad, object divisor_override,
                             const int64_t* handed) except -1
cdef int max_pool2d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode, const int64_t* handed) except -1
cdef int max_pool2d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                             IntArray kernel_size, IntArray stride, IntArray padding,
                             IntArray dilation, bint ceil_mode, Tensor indices) except -1
cdef int avg_pool3d(Tensor out, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding, bint ceil_mode,
                    bint count_include_pad, object divisor_override, const int64_t* handed) except -1
cdef int avg_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self, IntArray kernel_size, IntArray stride,
                             IntArray padding, bint ceil_mode, bint count_include_pad, object divisor_override,
                             const int64_t* handed) except -1
cdef int max_pool3d(Tensor out, Tensor indices, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode, const int64_t* handed) except -1
cdef int max_pool3d_backward(Tensor grad_input, Tensor grad_output, Tensor self,
                             IntArray kernel_size, IntArray stride, IntArray padding,
                             IntArray dilation, bint ceil_mode, Tensor indices) except -1
