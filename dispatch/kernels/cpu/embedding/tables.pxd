"""Bodies of look-ups in tables, and of their gradients."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int embedding(Tensor out, Tensor weight, Tensor indices, int64_t padding_idx,
                   bint scale_grad_by_freq, bint sparse) except -1
cdef int embedding_dense_backward(Tensor out, Tensor grad_output, Tensor indices, int64_t num_weights,
                                  int64_t padding_idx, bint scale_grad_by_freq) except -1
cdef object embedding_renorm_(Tensor self, Tensor indices, double max_norm, double norm_type)

# ---- for bags too
# Rows of `weight` (without gaps between a row's elements) one behind the other. IndexError, or
# another type, for an index that names none.
cdef int take_rows(Tensor out, Tensor weight, Tensor indices, object error) except -1
# How often each of `n` indices occurs: malloc'ed, to be freed. Those out of range are passed over.
cdef int64_t* new_counts(const int64_t* indices, int64_t n, int64_t rows) except NULL
