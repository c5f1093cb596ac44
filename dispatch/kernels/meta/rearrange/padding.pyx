"""Shape functions of padding, with a constant and with what is there, and of the gradients.

Called by the structured kernels. Results are contiguous unless the function says otherwise. On the
meta device tensors get what those on CPU get.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport DEV_CUDA, ST_bool, get_dtype
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport CAST_EXACT, CAST_SAFE, OVERLAP_ANY, Spec
from dispatch._C.symbolic cimport add, eq_or_false, ge, gt, lt, ne, size_object, smaller
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.given cimport restride_given


cdef list shape_of(Tensor t):
    return list(new_size(t.c_ndim, t.c_sizes))


cdef list numbers_of(IntArray a):
    return list(new_size(<int>a.len, a.data))


cdef void start(Spec* s, Tensor self) noexcept:
    """self's sizes and dtype. PyTorch's Meta kernels copy a result into an `out` of any safe dtype."""
    s.ndim, s.dtype = self.c_ndim, self.c_dtype
    memcpy(s.sizes, self.c_sizes, s.ndim * sizeof(int64_t))
    s.cast = CAST_EXACT if rules.is_eager(self) else CAST_SAFE | OVERLAP_ANY


cdef int follow_format(Spec* s, Tensor self) except -1:
    rules.strides_for(s.strides, s.sizes, s.ndim, rules.suggest_memory_format(self))
    s.has_strides = True
    return 0


# ---- padding with a constant -------------------------------------------------------------------

cdef int constant_pad_nd(Spec* s, Tensor self, IntArray pad, object value) except -1:
    """`pad` has two numbers for each dimension, the last dimension first.

    Cut only: strides are a clone's of the part that is left; else self's memory format stays.
    """
    cdef int i, dim
    cdef int64_t before, after, left
    cdef bint grows = False
    if pad.len % 2 or pad.len > 2 * self.c_ndim:
        raise refused(f"expected pad to have an even length of at most {2 * self.c_ndim}, got {numbers_of(pad)}")
    start(s, self)
    for i in range(<int>pad.len // 2):
        dim, before, after = self.c_ndim - 1 - i, pad.data[2 * i], pad.data[2 * i + 1]
        grows = grows or gt(before, 0) or gt(after, 0)
        left = add(add(s.sizes[dim], smaller(before, 0)), smaller(after, 0))
        s.sizes[dim] = add(s.sizes[dim], add(before, after))
        if lt(left, 0):
            raise refused(f"pad {numbers_of(pad)} gives dimension {dim} of shape {shape_of(self)} a negative size once it is "
                          "cut")
    if grows:
        return follow_format(s, self)
    s.has_strides = True
    return rules.dense_strides(s.strides, s.sizes, self.c_strides, s.ndim)


# ---- padding with what is there ----------------------------------------------------------------

cdef int check_length(IntArray padding, int n) except -1:
    if padding.len != 2 * n:
        raise refused(f"expected padding to have {2 * n} numbers, got {numbers_of(padding)}")
    return 0


cdef int check_input(Tensor self, IntArray padding, int n) except -1:
    """Dimensions of size 0 are not allowed, but for a batch."""
    cdef int d
    cdef bint batched = self.c_ndim == n + 2, good = batched or self.c_ndim == n + 1
    check_length(padding, n)
    for d in range(batched, self.c_ndim):
        good = good and not eq_or_false(self.c_sizes[d], 0)
    if not good:
        raise refused(f"expected self to have {n + 1} dimensions or {n + 2} with a batch, none but the batch of size 0, got "
                      f"{shape_of(self)}")
    return 0


cdef int check_mirrored(Tensor self, IntArray padding) except -1:
    """A mirror image is smaller than what it mirrors."""
    cdef int i, dim
    for i in range(<int>padding.len):
        dim = self.c_ndim - 1 - i // 2
        if dim < 0:
            raise refused(f"padding {numbers_of(padding)} is for more dimensions than self of {shape_of(self)} has", IndexError)
        if ge(padding.data[i], self.c_sizes[dim]):
            raise refused(f"Padding size should be less than the corresponding input dimension: padding "
                          f"{size_object(padding.data[i])} of dimension {dim} of shape {shape_of(self)}")
    return 0


cdef int add_padding(int64_t* sizes, int ndim, IntArray padding, int n) except -1:
    cdef int i
    for i in range(n):
        sizes[ndim - 1 - i] = add(sizes[ndim - 1 - i], add(padding.data[2 * i], padding.data[2 * i + 1]))
    return 0


cdef int check_left(const Spec* s, Tensor self, IntArray padding, int n) except -1:
    """Something is: one of the padded sizes is positive, and none is negative."""
    cdef int d
    cdef bint some = False
    for d in range(s.ndim - 1, s.ndim - 1 - n, -1):
        some = some or ge(s.sizes[d], 1)
    for d in range(s.ndim):
        some = some and not lt(s.sizes[d], 0)
    if not some:
        raise refused(f"padding {numbers_of(padding)} of shape {shape_of(self)} leaves nothing: "
                      f"{list(new_size(s.ndim, s.sizes))}")
    return 0


cdef bint is_cuda(Tensor self) except -1:
    return self.c_devtype == DEV_CUDA           # `device` of a fake tensor is meta where a program's kernels run


cdef int pad(Spec* s, Tensor self, IntArray padding, int n, bint mirrored) except -1:
    """The result of padding the last `n` dimensions.

    channels_last stays on CPU; in three dimensions only with data, and without a batch too.
    """
    check_input(self, padding, n)
    if mirrored:
        check_mirrored(self, padding)
    start(s, self)
    add_padding(s.sizes, s.ndim, padding, n)
    check_left(s, self, padding, n)
    if n == 3 and rules.is_eager(self) or n == 2 and not is_cuda(self):
        follow_format(s, self)
    if rules.is_eager(self) and (n == 3 or n == 2 and (not mirrored or self.c_ndim == 4)):
        restride_given(s)
    return 0


cdef int check_not_bool(Tensor self) except -1:
    if self.c_dtype == ST_bool and not rules.is_eager(self):
        raise refused(f"self of dtype {get_dtype(self.c_dtype)!r} is not supported")
    return 0


cdef int reflection_pad1d(Spec* s, Tensor self, IntArray padding) except -1:
    """Mirrored at the first and last element."""
    return pad(s, self, padding, 1, True)


cdef int reflection_pad2d(Spec* s, Tensor self, IntArray padding) except -1:
    """The same along the last two dimensions; channels_last stays."""
    return pad(s, self, padding, 2, True)


cdef int reflection_pad3d(Spec* s, Tensor self, IntArray padding) except -1:
    """The same along the last three dimensions."""
    return pad(s, self, padding, 3, True)


cdef int replication_pad1d(Spec* s, Tensor self, IntArray padding) except -1:
    """The edge is repeated along the last dimension."""
    return pad(s, self, padding, 1, False)


cdef int replication_pad2d(Spec* s, Tensor self, IntArray padding) except -1:
    """The edge is repeated along the last two dimensions; channels_last stays."""
    check_not_bool(self)
    return pad(s, self, padding, 2, False)


cdef int replication_pad3d(Spec* s, Tensor self, IntArray padding) except -1:
    """The same along the last three dimensions."""
    check_not_bool(self)
    return pad(s, self, padding, 3, False)


# ---- gradients ---------------------------------------------------------------------------------

cdef int pad_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding, int n, bint mirrored) except -1:
    """self's sizes; the gradient has those of the padded tensor. (Only bodies look at the batch.)"""
    cdef int64_t sizes[64]
    cdef int d
    cdef bint good
    check_length(padding, n)
    if mirrored and (n == 1 or rules.is_eager(self)):
        check_mirrored(self, padding)
    if self.c_ndim < n:
        raise refused(f"expected self to have at least {n} dimensions, got {shape_of(self)}", IndexError)
    memcpy(sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    add_padding(sizes, self.c_ndim, padding, n)
    good = grad_output.c_ndim == self.c_ndim
    for d in range(0 if rules.is_eager(self) else self.c_ndim - n, self.c_ndim):
        good = good and not ne(grad_output.c_sizes[d], sizes[d])
    if not good:
        raise refused(f"expected grad_output of shape {list(new_size(self.c_ndim, sizes))} for self of shape {shape_of(self)} "
                      f"and padding {numbers_of(padding)}, got {shape_of(grad_output)}",
                      IndexError if grad_output.c_ndim < self.c_ndim else RuntimeError)
    if grad_output.c_dtype != self.c_dtype and rules.is_eager(self):
        raise refused(f"expected grad_output of {get_dtype(self.c_dtype)!r}, got {get_dtype(grad_output.c_dtype)!r}")
    start(s, self)
    if rules.is_eager(self):
        follow_format(s, self)
        if n == 2:
            restride_given(s)
    return 0


cdef int reflection_pad1d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1:
    return pad_backward(s, grad_output, self, padding, 1, True)


cdef int reflection_pad2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1:
    return pad_backward(s, grad_output, self, padding, 2, True)


cdef int reflection_pad3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1:
    return pad_backward(s, grad_output, self, padding, 3, True)


cdef int replication_pad1d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1:
    return pad_backward(s, grad_output, self, padding, 1, False)


cdef int replication_pad2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1:
    return pad_backward(s, grad_output, self, padding, 2, False)


cdef int replication_pad3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray padding) except -1:
    return pad_backward(s, grad_output, self, padding, 3, False)
