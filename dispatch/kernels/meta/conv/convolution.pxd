"""Shape functions of convolutions, forward and backward."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int convolution(Spec* s, Tensor input, Tensor weight, Tensor bias, IntArray stride, IntArray padding,
                     IntArray dilation, bint transposed, IntArray output_padding, int64_t groups) except -1
cdef int convolution_backward(Spec* s, Tensor grad_output, Tensor input, Tensor weight, object bias_sizes,
                              IntArray stride, IntArray padding, IntArray dilation, bint transposed,
                              IntArray output_padding, int64_t groups, object output_mask) except -1
