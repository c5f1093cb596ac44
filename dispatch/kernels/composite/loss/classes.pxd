"""Losses of classes."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef object cross_entropy_loss(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index,
                               double label_smoothing)
cdef object nll_loss(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index)
cdef object nll_loss2d(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index)
cdef object nll_loss_nd(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index)
