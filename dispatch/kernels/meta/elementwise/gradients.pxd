"""Shape functions of gradients of pointwise operators and losses, and of what stands beside them."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int backward(Spec* s, Tensor grad, Tensor self) except -1
cdef int elu_backward(Spec* s, Tensor grad, object alpha, object scale, object input_scale, bint is_result,
                      Tensor self_or_result) except -1
cdef int gelu_backward(Spec* s, Tensor grad, Tensor self, object approximate) except -1
cdef int shrink_backward(Spec* s, Tensor grad, Tensor self, object lambd) except -1
cdef int hardtanh_backward(Spec* s, Tensor grad, Tensor self, object min_val, object max_val) except -1
cdef int leaky_relu_backward(Spec* s, Tensor grad, Tensor self, object negative_slope, bint self_is_result) except -1
cdef int log_sigmoid_backward(Spec* s, Tensor grad, Tensor self, Tensor buffer) except -1
cdef int logit_backward(Spec* s, Tensor grad, Tensor self, object eps) except -1
cdef int softplus_backward(Spec* s, Tensor grad, Tensor self, object beta, object threshold) except -1
cdef int threshold_backward(Spec* s, Tensor grad, Tensor self, object threshold) except -1
cdef int loss_backward(Spec* s, Tensor grad, Tensor self, Tensor target, int64_t reduction) except -1
cdef int loss_backward_by(Spec* s, Tensor grad, Tensor self, Tensor target, int64_t reduction, double by) except -1
cdef int huber_backward(Spec* s, Tensor grad, Tensor self, Tensor target, int64_t reduction, double delta) except -1
cdef int prelu_backward(Spec* specs, Tensor grad, Tensor self, Tensor weight) except -1
cdef int dropout_backward(Spec* s, Tensor grad, Tensor mask, double scale) except -1
cdef int frexp(Spec* specs, Tensor self) except -1
cdef int add_relu(Spec* s, Tensor self, Tensor other, object alpha) except -1
