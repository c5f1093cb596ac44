"""Bodies of sums, means and maxima of bags of rows, and of their gradients."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int embedding_bag(Tensor out, Tensor offset2bag, Tensor bag_size, Tensor max_indices,
                       Tensor weight, Tensor indices, Tensor offsets, bint scale_grad_by_freq,
                       int64_t mode, bint sparse, Tensor per_sample_weights,
                       bint include_last_offset, int64_t padding_idx) except -1
cdef int embedding_bag_forward_only(Tensor out, Tensor offset2bag, Tensor bag_size,
                                    Tensor max_indices, Tensor weight, Tensor indices,
                                    Tensor offsets, bint scale_grad_by_freq, int64_t mode,
                                    bint sparse, Tensor per_sample_weights,
                                    bint include_last_offset, int64_t padding_idx) except -1
cdef int dense_backward(Tensor out, Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size,
                        Tensor maximum_indices, int64_t num_weights, bint scale_grad_by_freq,
                        int64_t mode, Tensor per_sample_weights, int64_t padding_idx) except -1
cdef int per_sample_weights_backward(Tensor out, Tensor grad, Tensor weight, Tensor indices,
                                     Tensor offsets, Tensor offset2bag, int64_t mode,
                                     int64_t padding_idx) except -1
