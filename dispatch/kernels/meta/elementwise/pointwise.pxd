"""How elementwise shape functions fill a Spec: sizes broadcast, strides as the operands lie.

`try_same` and `try_one` are the short cuts for contiguous operands; `fill` handles everything. A
shape function decides on the result's dtype and hands it over. `PyObject** items` are borrowed.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DEV_META
from dispatch._C.geometry cimport TF_CHANNELS_LAST, TF_CONTIGUOUS
from dispatch._C.tensor cimport TF_FAKE, TF_WRAPPED_NUMBER, Tensor
from dispatch._C.tls cimport tls
from dispatch._C.structured cimport CAST_MASK, CAST_SAFE, OVERLAP_ANY, Spec

cdef enum:
    CAST_SAME = CAST_MASK        # Spec.cast: the result's dtype, of TensorIterator's operators that convert nothing

# Whether PyTorch would run its Meta kernel: some operand is a meta or fake tensor, or fake tensors
# are below this call. Its Meta kernels are Python references, whose checks are not all the same.
cdef bint on_meta(PyObject** items, int n) noexcept
# The whole Spec. `compute`: the dtype that operands are converted to first. RuntimeError for sizes
# that do not broadcast and for devices that differ.
cdef int fill(Spec* s, PyObject** items, int n, int dtype, int compute) except -1
# Then, with values, the strides of at::empty_like(self).
cdef int keep_strides(Spec* s, Tensor self) except -1

# Then, on Meta, those of `where(compare(asked, number), number, self)`: a number is a 0-d operand, so strides of size-1 dimensions
# have a say in the order of the result's.
cdef int choose_number(Spec* s, Tensor self, Tensor asked) except -1

# The strides again, from other operands than the call's: `as_made` stands for what a Meta kernel
# makes of `t` alone, in the sizes of `s`; `as_copied` for `t` converted to a dtype.
cdef int restride(Spec* s, PyObject** items, int n, bint meta) except -1
cdef Tensor as_made(Spec* s, Tensor t, int dtype)
cdef Tensor as_copied(Tensor t, int dtype)

cdef inline int cast_rule(bint meta) noexcept nogil:
    """Of outputs given: the result is cast to them; only kernels with data mind if they overlap."""
    return CAST_SAFE | OVERLAP_ANY if meta else CAST_SAFE

cdef inline bint is_meta(Tensor a) noexcept:
    """`on_meta` for one operand."""
    return a.c_devtype == DEV_META or a.c_flags & TF_FAKE or tls().meta_in_include

cdef inline bint try_one(Spec* s, Tensor a, int dtype) noexcept:
    """The Spec of one contiguous operand; False: not filled. One that is channels last too (a channel, or one pixel) keeps its
    strides on Meta."""
    cdef int i
    if not a.c_flags & TF_CONTIGUOUS or a.c_numel == 0 or (a.c_flags & TF_CHANNELS_LAST and is_meta(a)):
        return False
    for i in range(a.c_ndim):
        s.sizes[i] = a.c_sizes[i]
    s.ndim = a.c_ndim
    s.dtype = dtype
    s.cast = cast_rule(is_meta(a))
    return True

cdef inline bint try_same(Spec* s, Tensor a, Tensor b) noexcept:
    """The Spec of two contiguous operands of one size, dtype and device; False: not filled."""
    cdef int i
    if (not a.c_flags & b.c_flags & TF_CONTIGUOUS or a.c_ndim != b.c_ndim
            or a.c_dtype != b.c_dtype or a.c_devtype != b.c_devtype
            or a.c_devindex != b.c_devindex or (a.c_flags | b.c_flags) & TF_WRAPPED_NUMBER):
        return False
    for i in range(a.c_ndim):
        if a.c_sizes[i] != b.c_sizes[i]:
            return False
    return try_one(s, a, a.c_dtype)

cdef inline bint is_packed(Tensor a) noexcept nogil:
    """Whether a contiguous tensor's dimensions of size 1 have contiguous strides too."""
    cdef int64_t step = 1
    cdef int i
    for i in range(a.c_ndim - 1, -1, -1):
        if a.c_strides[i] != step:
            return False
        step *= max(a.c_sizes[i], 1)
    return True

cdef inline bint try_packed(Spec* s, Tensor a, int dtype) noexcept:
    """The Spec of a packed operand and a number that is no tensor; False: not filled."""
    return is_packed(a) and try_one(s, a, dtype)

cdef inline bint try_number(Spec* s, Tensor a, Tensor b, int dtype) noexcept:
    """The Spec of a packed operand and a number, for a result of `dtype`; False: not filled."""
    return bool(b.c_flags & TF_WRAPPED_NUMBER) and try_packed(s, a, dtype)
