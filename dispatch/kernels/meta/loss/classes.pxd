"""Shape functions of losses that take the value of the class which a target names."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int nll_loss_forward(Spec* s, Tensor self, Tensor target, Tensor weight, int64_t reduction,
                          int64_t ignore_index) except -1
cdef int nll_loss_backward(Spec* s, Tensor grad_output, Tensor self, Tensor target, Tensor weight,
                           int64_t reduction, int64_t ignore_index, Tensor total_weight) except -1
cdef int nll_loss2d_forward(Spec* s, Tensor self, Tensor target, Tensor weight, int64_t reduction,
                            int64_t ignore_index) except -1
cdef int nll_loss2d_backward(Spec* s, Tensor grad_output, Tensor self, Tensor target, Tensor weight,
                             int64_t reduction, int64_t ignore_index, Tensor total_weight) except -1
