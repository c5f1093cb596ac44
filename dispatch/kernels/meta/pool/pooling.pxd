"""Shape functions of pools whose windows have one size, and of their gradients."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int avg_pool2d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    bint ceil_mode, bint count_include_pad, object divisor_override) except -1
cdef int avg_pool2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, bint ceil_mode,
                             bint count_include_pad, object divisor_override) except -1
cdef int max_pool2d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode) except -1
cdef int max_pool2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, IntArray dilation, bint ceil_mode,
                             Tensor indices) except -1
cdef int avg_pool3d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    bint ceil_mode, bint count_include_pad, object divisor_override) except -1
cdef int avg_pool3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, bint ceil_mode,
                             bint count_include_pad, object divisor_override) except -1
cdef int max_pool3d(Spec* s, Tensor self, IntArray kernel_size, IntArray stride, IntArray padding,
                    IntArray dilation, bint ceil_mode) except -1
cdef int max_pool3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray stride, IntArray padding, IntArray dilation, bint ceil_mode,
                             Tensor indices) except -1
