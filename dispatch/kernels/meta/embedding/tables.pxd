"""Shape functions of look-ups in tables, and of their gradients."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int embedding(Spec* s, Tensor weight, Tensor indices, int64_t padding_idx,
                   bint scale_grad_by_freq, bint sparse) except -1
cdef int embedding_dense_backward(Spec* s, Tensor grad_output, Tensor indices, int64_t num_weights,
                                  int64_t padding_idx, bint scale_grad_by_freq) except -1
cdef object embedding_renorm_(Tensor self, Tensor indices, double max_norm, double norm_type)

cdef int check_renorm(Tensor self, Tensor indices) except -1        # on the CPU alone

# ---- for bags too
cdef int check_index_dtype(str name, Tensor t) except -1
