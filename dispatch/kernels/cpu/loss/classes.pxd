"""Bodies of losses that take the value of the class which a target names."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int nll_loss_forward(Tensor output, Tensor total_weight, Tensor self, Tensor target,
                          Tensor weight, int64_t reduction, int64_t ignore_index) except -1
cdef int nll_loss_backward(Tensor grad_input, Tensor grad_output, Tensor self, Tensor target,
                           Tensor weight, int64_t reduction, int64_t ignore_index,
                           Tensor total_weight) except -1
cdef int nll_loss2d_forward(Tensor output, Tensor total_weight, Tensor self, Tensor target,
                            Tensor weight, int64_t reduction, int64_t ignore_index) except -1
cdef int nll_loss2d_backward(Tensor grad_input, Tensor grad_output, Tensor self, Tensor target,
                             Tensor weight, int64_t reduction, int64_t ignore_index,
                             Tensor total_weight) except -1
