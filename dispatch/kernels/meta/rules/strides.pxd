"""Strides: of memory formats, dense ones in a given order, of views; and the bytes that sizes and strides reach.

Strides count elements; sizes and strides are numbers or expressions (see `_C/symbolic.pxd`). A question that an expression leaves
open guards, and is answered no where there is no hint. Arrays hold at most `MAX_DIMS` elements (see `sizes.pxd`).
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.rules.sizes cimport MAX_DIMS

cdef int contiguous_strides(int64_t* out, const int64_t* sizes, int ndim) except -1
# For 4 dimensions, or 5 (channels_last_3d).
cdef int channels_last_strides(int64_t* out, const int64_t* sizes, int ndim) except -1
# RuntimeError for preserve_format, or a number of dimensions that does not fit the format.
cdef int strides_for(int64_t* out, const int64_t* sizes, int ndim, int memory_format) except -1
cdef bint is_contiguous(const int64_t* sizes, const int64_t* strides, int ndim) except -1
# Exactly the format's strides (4 or 5 dimensions).
cdef bint is_channels_last(const int64_t* sizes, const int64_t* strides, int ndim) except -1
# Dimensions in the format's order, gaps allowed.
cdef bint is_channels_last_like(const int64_t* sizes, const int64_t* strides, int ndim) except -1
cdef bint non_overlapping_dense(const int64_t* sizes, const int64_t* strides, int ndim) except -1
# Contiguous, channels_last or channels_last_3d.
cdef int suggest_memory_format(Tensor t) except -1
# Packed, with the dimensions in the order of `strides`.
cdef int dense_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim) except -1
# empty_like(t) with preserve_format.
cdef int dense_like_strides(int64_t* out, Tensor t) except -1

# Strides that show a tensor as `new_sizes` (of as many elements); False: only a copy can.
cdef bint compute_view_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                               const int64_t* new_sizes, int new_ndim) except -1
# The same as PyTorch's fake tensors have it: strides of dimensions of size 1 can differ.
cdef bint compute_view_strides_meta(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                                    const int64_t* new_sizes, int new_ndim) except -1

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
cdef bint sort_dims(int* perm, Operands* ops) except -1
# Strides without gaps in the operands' order; a size of 0 counts as 1.
cdef int packed_strides(int64_t* out, Operands* ops) except -1
