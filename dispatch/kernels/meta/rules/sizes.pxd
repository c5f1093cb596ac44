"""Sizes: how many elements, broadcasting, dimensions counted from either end, reductions, a size left open.

A size is a number or an expression (see `_C/symbolic.pxd`); a number of dimensions, and a dimension, is a number.
Arrays hold at most `MAX_DIMS` elements, as many as a tensor has dimensions, and a caller's output
buffer has room for as many. `PyObject** items` are borrowed operands as they came in a call.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DEV_META
from dispatch._C.symbolic cimport SIZE_ERROR
from dispatch._C.tensor cimport TF_FAKE, Tensor

cdef enum:
    MAX_DIMS = 64

# Whether `t` has data: neither fake nor on the meta device. PyTorch's eager kernels check more than
# its Meta kernels do.
cdef inline bint is_eager(Tensor t) noexcept:
    return t.c_devtype != DEV_META and not t.c_flags & TF_FAKE

# RuntimeError for a negative size, or more elements than 64 bits count.
cdef int64_t numel(const int64_t* sizes, int ndim) except? SIZE_ERROR
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

# ---- for the other rules

cdef inline bint is_tensor(PyObject* item) noexcept:
    return isinstance(<object>item, Tensor)

# The same sizes, dimension by dimension; without a hint that decides, they differ.
cdef bint same_sizes(const int64_t* a, const int64_t* b, int ndim) except -1
cdef tuple as_tuple(const int64_t* values, int n)
cdef list sizes_of(Tensor t)
cdef int raise_negative_size(const int64_t* sizes, int ndim, int dim) except -1
# Rename the faces of a module, `py_NAME`, to NAME; returns their names, sorted.
cdef list enter_faces(dict names)
