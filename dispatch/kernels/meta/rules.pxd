"""The shape and dtype rules that operators share: a C function each, over plain arrays or tensors.

Who calls: shape functions, views, factories, `kernels/structured`. Arrays hold at most `MAX_DIMS`
elements, as many as a tensor has dimensions, and a caller's output buffer has room for as many.
Strides count elements. `PyObject** items` are borrowed operands as they came in a call: tensors,
numbers, None (left out). Codes are c10's.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DEV_META
from dispatch._C.tensor cimport TF_FAKE, Tensor

cdef enum:
    MAX_DIMS = 64

# Whether `t` has data: neither fake nor on the meta device. PyTorch's eager kernels check more than
# its Meta kernels do.
cdef inline bint is_eager(Tensor t) noexcept:
    return t.c_devtype != DEV_META and not t.c_flags & TF_FAKE

# ---- dtypes

# The dtype that operands are promoted to; ST_NONE: there is no operand.
cdef int result_type(PyObject** items, int n) except -2
# promote_types on codes. RuntimeError when it is not defined.
cdef int promoted(int a, int b) except -1
# What operators compute in that give floats (true division, sqrt): integers and bool count as the
# default dtype.
cdef int float_type(int code) noexcept
# sum, prod, cumsum: `given` unless it is ST_NONE, else int64 for integers and bool.
cdef int sum_type(int code, int given) noexcept

# ---- sizes

# RuntimeError for a negative size, or more elements than 64 bits count.
cdef int64_t numel(const int64_t* sizes, int ndim) except -1
# The sizes of an elementwise result -> its ndim. RuntimeError names the sizes.
cdef int broadcast(int64_t* out, PyObject** items, int n) except -1
# The same for one more shape, into `out` -> its new ndim.
cdef int broadcast_into(int64_t* out, int out_ndim, const int64_t* sizes, int ndim) except -1
# IndexError. `wrap_scalar`: a 0-d tensor counts as having one dimension.
cdef int64_t wrap_dim(int64_t dim, int64_t ndim, bint wrap_scalar) except -1
# In place. RuntimeError for a dimension given twice.
cdef int wrap_dims(int64_t* dims, int n, int ndim, bint wrap_scalar) except -1
# Sizes after a reduction over wrapped `dims` (NULL: all) -> ndim.
cdef int reduced_sizes(int64_t* out, const int64_t* sizes, int ndim, const int64_t* dims, int n,
                       bint keepdim) noexcept nogil
# `sizes` with its -1, if any, worked out from `numel`. RuntimeError when none fits.
cdef int infer_size(int64_t* out, const int64_t* sizes, int ndim, int64_t numel) except -1

# ---- strides

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

# The new output, of known sizes, of an elementwise operator; returns 1 if contiguous, else 0.
# `code`: the dtype that operands are converted to first (a converted copy can have other strides;
# CPU kernels convert to the dtype of computation), or ST_NONE.
cdef int elementwise_strides(int64_t* out, const int64_t* sizes, int ndim, PyObject** items, int n,
                             int code) noexcept
# The same as PyTorch's Meta kernels, and so fake tensors, have it.
cdef int elementwise_strides_meta(int64_t* out, const int64_t* sizes, int ndim, PyObject** items,
                                  int n, int code) noexcept

# Strides that show a tensor as `new_sizes` (of as many elements); False: only a copy can.
cdef bint compute_view_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                               const int64_t* new_sizes, int new_ndim) noexcept nogil

# The same as PyTorch's fake tensors have it: strides of dimensions of size 1 can differ.
cdef bint compute_view_strides_meta(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                                    const int64_t* new_sizes, int new_ndim) noexcept nogil

# ---- storage

# Bytes from the storage's start to the end of the last element; 0 when there are no elements.
# RuntimeError when they do not fit in 64 bits.
cdef int64_t storage_nbytes(const int64_t* sizes, const int64_t* strides, int ndim, int64_t offset,
                            int itemsize) except -1
# RuntimeError unless an as_strided view lies within a storage of `nbytes`.
cdef int check_bounds(const int64_t* sizes, const int64_t* strides, int ndim, int64_t offset,
                      int itemsize, int64_t nbytes) except -1
