"""Shape functions of sums, means and maxima of bags of rows, and of their gradients.

Called by the structured kernels. A bag begins at its offset and ends where the next one begins;
with `include_last_offset` the last offset begins none.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_META, DTYPES_FLOATING, is_floating_code, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport eq, expect_eq, lt, size_object, sub
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.embedding.tables cimport check_index_dtype
from dispatch.kernels.meta.rules cimport is_eager
from dispatch.kernels.meta.rules.sizes cimport sizes_of

cdef enum:
    MODE_SUM, MODE_MEAN, MODE_MAX


cdef int check_bag(Tensor weight, Tensor indices, Tensor offsets, int64_t mode,
                   Tensor per_sample_weights, bint include_last_offset) except -1:
    check_index_dtype("indices", indices)
    check_index_dtype("offsets", offsets)
    if not is_floating_code(weight.c_dtype):
        raise refused("expected weight to have a floating point dtype, "
                      f"got {dtypes.get_dtype(weight.c_dtype)!r}")
    for t, name, ndim in ((offsets, "offsets", 1), (weight, "weight", 2)):
        if (<Tensor>t).c_ndim != ndim:
            raise refused(f"expected {name} to have {ndim} dimensions, "
                          f"got {sizes_of(t)}")
    if indices.c_ndim not in (1, 2):
        raise refused("expected indices to have 1 or 2 dimensions, "
                      f"got {sizes_of(indices)}")
    if not MODE_SUM <= mode <= MODE_MAX:
        raise refused(f"mode must be 0 (sum), 1 (mean) or 2 (max), got {mode}")
    if include_last_offset and eq(offsets.c_sizes[0], 0):
        raise refused("include_last_offset needs at least one offset")
    if per_sample_weights is not None:
        check_sample_weights(indices, mode, per_sample_weights)
    return 0


cdef int check_sample_weights(Tensor indices, int64_t mode, Tensor weights) except -1:
    if mode != MODE_SUM:
        raise refused("per_sample_weights are only for mode 0 (sum)")
    if weights.c_ndim != 1 or not expect_eq(weights.c_numel, indices.c_numel):
        raise refused("expected per_sample_weights to have one "
                      f"dimension of {size_object(indices.c_numel)} elements, got {sizes_of(weights)}")
    return 0


cdef inline void set_vector(Spec* s, int dtype, int64_t size) noexcept:
    s.ndim, s.dtype, s.sizes[0] = 1, dtype, size


cdef inline void set_matrix(Spec* s, int dtype, int64_t rows, int64_t columns) noexcept:
    s.ndim, s.dtype, s.sizes[0], s.sizes[1] = 2, dtype, rows, columns


cdef int embedding_bag(Spec* s, Tensor weight, Tensor indices, Tensor offsets,
                       bint scale_grad_by_freq, int64_t mode, bint sparse,
                       Tensor per_sample_weights, bint include_last_offset,
                       int64_t padding_idx) except -1:
    """Output, offset2bag, bag_size, max_indices. Tensors on meta get what those on CPU get."""
    cdef int64_t bags, columns, noted = 0
    cdef bint cpu = offsets.c_devtype == DEV_CPU or offsets.c_devtype == DEV_META
    cdef int dtype = offsets.c_dtype if cpu else indices.c_dtype
    check_bag(weight, indices, offsets, mode, per_sample_weights, include_last_offset)
    bags = sub(offsets.c_sizes[0], include_last_offset)
    columns = weight.c_sizes[1]
    if is_eager(weight):
        dtype = rules.promoted(indices.c_dtype, offsets.c_dtype)
    if not cpu or mode != MODE_SUM or not walks_offsets(weight, per_sample_weights, padding_idx):
        noted = indices.c_sizes[0]
    set_matrix(s, weight.c_dtype, bags, columns)
    set_vector(&s[1], dtype, noted)
    set_vector(&s[2], dtype, bags if cpu else offsets.c_sizes[0])
    if mode == MODE_MAX:
        set_matrix(&s[3], dtype, bags, columns)
    else:
        set_vector(&s[3], dtype, bags if cpu else 0)
    return 0


cdef int embedding_bag_forward_only(Spec* s, Tensor weight, Tensor indices, Tensor offsets,
                                    bint scale_grad_by_freq, int64_t mode, bint sparse,
                                    Tensor per_sample_weights, bint include_last_offset,
                                    int64_t padding_idx) except -1:
    """The same, but sums leave a number for each offset where nobody asks for the bags' sizes."""
    embedding_bag(s, weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                  include_last_offset, padding_idx)
    if not is_eager(weight) or mode == MODE_SUM:
        s[2].sizes[0] = offsets.c_sizes[0]
    if is_eager(weight) and mode == MODE_SUM:
        s[3].sizes[0] = offsets.c_sizes[0]
    return 0


# ---- gradients ---------------------------------------------------------------------------------

cdef int check_noted(Tensor offset2bag, Tensor indices) except -1:
    """The bag of each index."""
    if is_eager(indices) and not expect_eq(offset2bag.c_numel, indices.c_numel):
        raise refused(f"expected offset2bag to have {size_object(indices.c_numel)} elements, "
                      f"got {sizes_of(offset2bag)}")
    return 0


cdef int dense_backward(Spec* s, Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size,
                        Tensor maximum_indices, int64_t num_weights, bint scale_grad_by_freq,
                        int64_t mode, Tensor per_sample_weights, int64_t padding_idx) except -1:
    """A row for each of `num_weights`."""
    if not is_in(DTYPES_FLOATING, grad.c_dtype):
        raise refused("expected grad to have a floating point dtype, "
                      f"got {dtypes.get_dtype(grad.c_dtype)!r}")
    if grad.c_ndim != 2:
        raise refused(f"expected grad to have 2 dimensions, got {sizes_of(grad)}",
                      IndexError if grad.c_ndim < 2 else RuntimeError)
    if lt(num_weights, 0):
        raise refused(f"num_weights {size_object(num_weights)} is negative")
    if mode != MODE_MAX:
        check_noted(offset2bag, indices)
    elif is_eager(grad) and (maximum_indices.c_ndim != 2
                             or maximum_indices.c_sizes[0] != grad.c_sizes[0]
                             or maximum_indices.c_sizes[1] != grad.c_sizes[1]):
        raise refused(f"expected maximum_indices of grad's shape {sizes_of(grad)}, "
                      f"got {sizes_of(maximum_indices)}")
    set_matrix(s, grad.c_dtype, num_weights, grad.c_sizes[1])
    return 0


cdef int per_sample_weights_backward(Spec* s, Tensor grad, Tensor weight, Tensor indices,
                                     Tensor offsets, Tensor offset2bag, int64_t mode,
                                     int64_t padding_idx) except -1:
    """A number for each index."""
    if mode != MODE_SUM:
        raise refused(f"per_sample_weights are only for mode 0 (sum), got {mode}")
    for name, t, ndim in (("grad", grad, 2), ("indices", indices, 1), ("weight", weight, 2)):
        if (<Tensor>t).c_ndim != ndim:
            raise refused(f"expected {name} to have {ndim} dimensions, got {sizes_of(t)}")
    if not expect_eq(weight.c_sizes[1], grad.c_sizes[1]):
        raise refused(f"grad of shape {sizes_of(grad)} does not fit weight of {sizes_of(weight)}")
    if is_eager(indices) and offset2bag.c_numel:
        check_noted(offset2bag, indices)
    set_vector(s, grad.c_dtype, indices.c_sizes[0])
    return 0
