"""Views: new tensors over the storage of another, made of metadata alone, valid on every device.

The ADInplaceOrView kernel above relates a view to its base and shares their version.
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

# ---- one view
cdef object alias(Tensor self)
cdef object detach(Tensor self)
cdef object _conj(Tensor self)
cdef object _neg_view(Tensor self)
cdef object view(Tensor self, IntArray size)
cdef object _unsafe_view(Tensor self, IntArray size)
cdef object _reshape_alias(Tensor self, IntArray size, IntArray stride)
cdef object expand(Tensor self, IntArray size, bint implicit)
cdef object permute(Tensor self, IntArray dims)
cdef object transpose(Tensor self, int64_t dim0, int64_t dim1)
cdef object t(Tensor self)
cdef object squeeze(Tensor self)
cdef object squeeze_dim(Tensor self, int64_t dim)
cdef object squeeze_dims(Tensor self, IntArray dim)
cdef object unsqueeze(Tensor self, int64_t dim)
cdef object select(Tensor self, int64_t dim, int64_t index)
cdef object slice(Tensor self, int64_t dim, object start, object end, int64_t step)
cdef object diagonal(Tensor self, int64_t offset, int64_t dim1, int64_t dim2)
cdef object view_dtype(Tensor self, int dtype)
cdef object view_as_real(Tensor self)
cdef object view_as_complex(Tensor self)

# ---- several
cdef object split(Tensor self, int64_t split_size, int64_t dim)
cdef object unbind(Tensor self, int64_t dim)

# ---- in place
cdef object as_strided_(Tensor self, IntArray size, IntArray stride, object storage_offset)
cdef object detach_(Tensor self)
cdef object resize_(Tensor self, IntArray size, int memory_format)
cdef object squeeze_(Tensor self)
cdef object squeeze_dim_(Tensor self, int64_t dim)
cdef object squeeze_dims_(Tensor self, IntArray dim)
cdef object t_(Tensor self)
cdef object transpose_(Tensor self, int64_t dim0, int64_t dim1)
cdef object unsqueeze_(Tensor self, int64_t dim)

# ---- what a tensor's metadata are
cdef object sym_is_contiguous(Tensor self, int memory_format)
cdef object _assert_tensor_metadata(Tensor a, object size, object stride, int dtype, object device,
                                    int layout)

# ---- for other views
# `dim` counted from the front; `wrap_scalar`: a 0-d tensor counts as having one dimension.
cdef inline int wrap(int64_t dim, int ndim, bint wrap_scalar) except -1:
    cdef int extent = 1 if ndim == 0 and wrap_scalar else ndim
    if dim < -extent or dim >= extent:
        raise_dim(dim, extent)
    return <int>(dim + extent if dim < 0 else dim)

# IndexError: there is no such dimension.
cdef int raise_dim(int64_t dim, int extent) except -1
