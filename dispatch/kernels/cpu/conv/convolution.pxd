"""Bodies of convolution and of its gradients."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int convolution(Tensor out, Tensor input, Tensor weight, Tensor bias, IntArray stride, IntArray padding, IntArray dilation,
                     bint transposed, IntArray output_padding, int64_t groups, const int64_t* handed) except -1
cdef int convolution_backward(Tensor grad_input, Tensor grad_weight, Tensor grad_bias, Tensor grad_output, Tensor input,
                              Tensor weight, object bias_sizes, IntArray stride, IntArray padding, IntArray dilation,
                              bint transposed, IntArray output_padding, int64_t groups, object output_mask,
                              const int64_t* handed) except -1
