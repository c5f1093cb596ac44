"""Normalisation by channels."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef object batch_norm(Tensor input, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var, bint training,
                       double momentum, double eps, bint cudnn_enabled)
cdef object _batch_norm_impl_index(Tensor input, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var,
                                   bint training, double momentum, double eps, bint cudnn_enabled)
cdef object group_norm(Tensor input, int64_t num_groups, Tensor weight, Tensor bias, double eps, bint cudnn_enabled)
