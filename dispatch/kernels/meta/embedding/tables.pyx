"""Shape functions of look-ups in tables, and of their gradients: metadata only, values unseen."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_int32, ST_int64, is_integral_code
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport CAST_EXACT, CAST_SAFE, OVERLAP_ANY, Spec
from dispatch._C.symbolic cimport lt, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.rules cimport MAX_DIMS, is_eager
from dispatch.kernels.meta.rules.sizes cimport sizes_of


cdef int check_index_dtype(str name, Tensor t) except -1:
    if t.c_dtype != ST_int64 and t.c_dtype != ST_int32:
        raise refused(f"Expected tensor for argument '{name}' to have one of the scalar types: Long, Int; "
                      f"but got {dtypes.get_dtype(t.c_dtype)!r}")
    return 0


cdef int embedding(Spec* s, Tensor weight, Tensor indices, int64_t padding_idx,
                   bint scale_grad_by_freq, bint sparse) except -1:
    if weight.c_ndim != 2:
        raise refused(f"'weight' must be 2-D, got {sizes_of(weight)}",
                      RuntimeError if is_eager(weight) else AssertionError)
    check_index_dtype("indices", indices)
    if indices.c_ndim >= MAX_DIMS:
        raise refused(f"a result of more than {MAX_DIMS} dimensions")
    s.ndim = indices.c_ndim + 1
    memcpy(s.sizes, indices.c_sizes, indices.c_ndim * sizeof(int64_t))
    s.sizes[s.ndim - 1] = weight.c_sizes[1]
    s.dtype = weight.c_dtype
    s.cast = CAST_EXACT if is_eager(weight) else CAST_SAFE | OVERLAP_ANY
    return 0


cdef int embedding_dense_backward(Spec* s, Tensor grad_output, Tensor indices, int64_t num_weights,
                                  int64_t padding_idx, bint scale_grad_by_freq) except -1:
    check_index_dtype("indices", indices)
    if grad_output.c_ndim == 0:
        raise refused("grad_output has no dimensions", IndexError)
    if lt(num_weights, 0):
        raise refused(f"num_weights {size_object(num_weights)} is negative")
    s.ndim = 2
    s.sizes[0] = num_weights
    s.sizes[1] = grad_output.c_sizes[grad_output.c_ndim - 1]
    s.dtype = grad_output.c_dtype
    return 0


cdef object embedding_renorm_(Tensor self, Tensor indices, double max_norm, double norm_type):
    """The Meta kernel."""
    return self


cdef int check_renorm(Tensor self, Tensor indices) except -1:
    if self.c_ndim != 2:
        raise refused(f"expected self to have 2 dimensions, got {sizes_of(self)}")
    check_index_dtype("indices", indices)
    if indices.c_numel and is_integral_code(self.c_dtype, True):
        raise refused(f"expected self to have a floating dtype, got {dtypes.get_dtype(self.c_dtype)!r}")
    return 0
