"""Sizes and strides as numbers: how many elements, how far they reach, how many bytes; every product and sum is checked.

Called by `storage` and `tensor` before they write anything, and by kernels. Knows no tensor. What does not fit in 64 bits is a
RuntimeError with PyTorch's text; the checks are one flag of the processor each. Any number may be the handle of an expression
(`symbolic`): handles are negative, and the branches for negative numbers tell them from mistakes.
"""
from libc.stdint cimport int64_t, uint32_t

from dispatch._C.symbolic cimport SZ_ADD, SZ_MUL, add_overflows, any_symbolic, binary_slowly, is_symbolic, mul_overflows

cdef enum GeometryFlag:          # bits of Tensor.c_flags that follow from sizes and strides alone
    TF_CONTIGUOUS = 8
    TF_CHANNELS_LAST = 16
    TF_CHANNELS_LAST_3D = 32
    TF_NON_OVERLAPPING_DENSE = 64

cdef int64_t numel_of_signed(int ndim, const int64_t* sizes) except -1    # some are expressions, or RuntimeError: negative
cdef int64_t expressed_bytes(int64_t offset, int64_t span, int64_t itemsize) except -1
cdef int raise_numel_overflow(int ndim, const int64_t* sizes) except -1
cdef int raise_storage_overflow(int ndim, const int64_t* sizes, const int64_t* strides) except -1    # strides NULL: contiguous
cdef int check_steps(int ndim, const int64_t* sizes) except -1            # contiguous strides of an empty tensor fit
cdef int64_t span_of(int ndim, const int64_t* sizes, const int64_t* strides) except -1   # elements from first to last; 0: empty
# Bytes from the start of the storage to the end of the last element; 0: empty. RuntimeError for negative numbers too.
cdef int64_t reach_of(int itemsize, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1
# RuntimeError unless that lies within `room` bytes.
cdef int check_within(int64_t room, int itemsize, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1
cdef int raise_step_overflow(int64_t a, int64_t b) except -1
cdef bint is_dense_permutation(int ndim, const int64_t* sizes, const int64_t* strides) noexcept nogil
# A sequence of ints and SymInts into `out` (room for 64); how many.
cdef int read_ints(object values, int64_t* out, str what) except -1
# Flags that hold for every value of the symbols.
cdef uint32_t known_flags(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) except? 0xFFFFFFFF
# The same questions with guards; what no hint decides is False.
cdef bint asked_contiguous(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) except -1
cdef bint asked_channels_last(int ndim, const int64_t* sizes, const int64_t* strides) except -1
cdef bint asked_dense(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) except -1
cdef int contiguous_steps(int ndim, const int64_t* sizes, int64_t* strides) except -1     # some of the sizes are expressions
cdef int wrapped_index(object dim, int64_t n) except -1                   # IndexError outside of -n ... n - 1


cdef inline int64_t numel_of(int ndim, const int64_t* sizes) except -1:
    """Number of elements. RuntimeError for a negative size and for a number that does not fit."""
    cdef int64_t numel = 1
    cdef int i
    for i in range(ndim):
        if sizes[i] < 0:
            return numel_of_signed(ndim, sizes)
        if mul_overflows(numel, sizes[i], &numel):
            raise_numel_overflow(ndim, sizes)
    return numel


cdef inline int64_t bytes_of(int64_t offset, int64_t span, int64_t itemsize, int ndim, const int64_t* sizes,
                             const int64_t* strides) except -1:
    """Bytes of a storage that holds `span` elements from `offset` on; sizes and strides are for the error's text."""
    cdef int64_t n
    if any_symbolic(offset, span):
        return expressed_bytes(offset, span, itemsize)
    if add_overflows(offset, span, &n) or mul_overflows(n, itemsize, &n):
        raise_storage_overflow(ndim, sizes, strides)
    return n


cdef inline int64_t product(int64_t a, int64_t b) except? -1:
    """Of strides and offsets."""
    cdef int64_t n
    if any_symbolic(a, b):
        return binary_slowly(SZ_MUL, a, b)
    if mul_overflows(a, b, &n) or is_symbolic(n):
        raise_step_overflow(a, b)
    return n


cdef inline int64_t total(int64_t a, int64_t b) except? -1:
    """Of strides and offsets."""
    cdef int64_t n
    if any_symbolic(a, b):
        return binary_slowly(SZ_ADD, a, b)
    if add_overflows(a, b, &n) or is_symbolic(n):
        raise_step_overflow(a, b)
    return n


cdef inline uint32_t channels_last_flag(int ndim, const int64_t* sizes, const int64_t* strides) noexcept nogil:
    """TF_CHANNELS_LAST (4 dimensions) or TF_CHANNELS_LAST_3D (5) when the strides are exactly that format's."""
    cdef int64_t want = 1
    cdef int k, d
    for k in range(ndim):
        d = 1 if k == 0 else (ndim - k if k < ndim - 1 else 0)
        if sizes[d] != 1:
            if strides[d] != want:
                return 0
            want *= sizes[d]
    return TF_CHANNELS_LAST if ndim == 4 else TF_CHANNELS_LAST_3D


cdef inline uint32_t geometry_flags(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) noexcept nogil:
    cdef uint32_t flags = 0
    cdef int64_t want = 1
    cdef int i
    cdef bint contiguous = True
    if numel:
        for i in range(ndim - 1, -1, -1):
            if sizes[i] != 1:
                if strides[i] != want:
                    contiguous = False
                    break
                want *= sizes[i]
    if contiguous:
        flags = TF_CONTIGUOUS | TF_NON_OVERLAPPING_DENSE
    elif is_dense_permutation(ndim, sizes, strides):
        flags = TF_NON_OVERLAPPING_DENSE
    if ndim == 4 or ndim == 5:
        flags |= channels_last_flag(ndim, sizes, strides)
    return flags
