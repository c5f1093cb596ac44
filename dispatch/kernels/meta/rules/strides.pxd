"""Strides: of memory formats, dense ones in a given order, of views; and the bytes that sizes and strides reach.

Strides count elements. Arrays hold at most `MAX_DIMS` elements (see `sizes.pxd`).
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.rules.sizes cimport MAX_DIMS

cdef void contiguous_strides(int64_t* out, const int64_t* sizes, int ndim) noexcept nogil
# For 4 dimensions, or 5 (channels_last_3d).
cdef void channels_last_strides(int64_t* out, const int64_t* sizes, int ndim) noexcept nogil
# RuntimeError for preserve_format, or a number of dimensions that does not fit the format.
cdef int strides_for(int64_t* out, const int64_t* sizes, int ndim, int memory_format) except -1
cdef bint is_contiguous(const int64_t* sizes, const int64_t* strides, int ndim) noexcept nogil
# Exactly the format's strides (4 or 5 dimensions).
cdef bint is_channels_last(const int64_t* sizes, const int64_t* strides, int ndim) noexcept nogil
# Dimensions in the format's order, gaps allowed.
cdef bint is_channels_last_like(const int64_t* sizes, const int64_t* strides,
                                int ndim) noexcept nogil
cdef bint non_overlapping_dense(const int64_t* sizes, const int64_t* strides,
                                int ndim) noexcept nogil
# Contiguous, channels_last or channels_last_3d.
cdef int suggest_memory_format(Tensor t) noexcept
# Packed, with the dimensions in the order of `strides`.
cdef void dense_strides(int64_t* out, const int64_t* sizes, const int64_t* strides,
                        int ndim) noexcept nogil
# empty_like(t) with preserve_format.
cdef void dense_like_strides(int64_t* out, Tensor t) noexcept

# Strides that show a tensor as `new_sizes` (of as many elements); False: only a copy can.
cdef bint compute_view_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                               const int64_t* new_sizes, int new_ndim) noexcept nogil
# The same as PyTorch's fake tensors have it: strides of dimensions of size 1 can differ.
cdef bint compute_view_strides_meta(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                                    const int64_t* new_sizes, int new_ndim) noexcept nogil

# ---- the order of several operands' dimensions

cdef enum:
    MAX_OPERANDS = 8             # operands after the eighth have no say in the order of dimensions

cdef struct Operands:
    const int64_t* sizes         # of the result
    int ndim
    int n
    int64_t strides[MAX_OPERANDS][MAX_DIMS]      # along the result's dimensions; 0: broadcast
    # what all operands have in common, for the short cuts
    bint same_shape, same_strides, contiguous, channels_last

# Dimensions from the innermost to the outermost; returns whether they are row-major.
cdef bint sort_dims(int* perm, Operands* ops) noexcept nogil
# Strides without gaps in the operands' order; a size of 0 counts as 1.
cdef void packed_strides(int64_t* out, Operands* ops) noexcept nogil
