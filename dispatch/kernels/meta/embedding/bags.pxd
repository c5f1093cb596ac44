"""Shape functions of sums, means and maxima of bags of rows, and of their gradients."""
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport ST_bfloat16, ST_float16, ST_float32
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport ne
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.rules cimport is_eager

cdef int embedding_bag(Spec* s, Tensor weight, Tensor indices, Tensor offsets,
                       bint scale_grad_by_freq, int64_t mode, bint sparse,
                       Tensor per_sample_weights, bint include_last_offset,
                       int64_t padding_idx) except -1
cdef int embedding_bag_forward_only(Spec* s, Tensor weight, Tensor indices, Tensor offsets,
                                    bint scale_grad_by_freq, int64_t mode, bint sparse,
                                    Tensor per_sample_weights, bint include_last_offset,
                                    int64_t padding_idx) except -1
cdef int dense_backward(Spec* s, Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size,
                        Tensor maximum_indices, int64_t num_weights, bint scale_grad_by_freq,
                        int64_t mode, Tensor per_sample_weights, int64_t padding_idx) except -1
cdef int per_sample_weights_backward(Spec* s, Tensor grad, Tensor weight, Tensor indices,
                                     Tensor offsets, Tensor offset2bag, int64_t mode,
                                     int64_t padding_idx) except -1

cdef inline bint walks_offsets(Tensor weight, Tensor factors, int64_t padding_idx) except -1:
    """Whether PyTorch's CPU kernel adds from offset to offset, not by each index's bag (is_fast_path)."""
    if factors is not None and ne(factors.c_strides[0], 1):
        return False
    if padding_idx >= 0 or ne(weight.c_strides[1], 1):
        return False
    return (weight.c_dtype == ST_float32 or weight.c_dtype == ST_float16
            or weight.c_dtype == ST_bfloat16 and is_eager(weight))
