"""Shape functions of pools whose windows follow the output: adaptive and fractional ones, and unpooling.

Called by the structured kernels. Sizes of the output are given; which results keep channels_last
is PyTorch's choice.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport MF_channels_last, MF_contiguous, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport COPIED, Spec
from dispatch._C.symbolic cimport add, eq_or_false, expect_eq, gt, lt
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.given cimport restride_given
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch.kernels.meta.rules.numbers cimport agree


cdef int check_dims(str name, Tensor t, int dims) except -1:
    if t.c_ndim != dims + 1 and t.c_ndim != dims + 2:
        raise refused(f"expected {name} to have {dims + 1} or {dims + 2} dimensions, got {sizes_of(t)}")
    return 0


cdef int check_count(str name, IntArray given, int dims) except -1:
    if given.len != dims:
        raise refused(f"expected {name} to have {dims} numbers, got {list(new_size(<int>given.len, given.data))}")
    return 0


cdef int check_elements(str name, Tensor t, int first) except -1:
    cdef int i
    for i in range(first, t.c_ndim):
        if eq_or_false(t.c_sizes[i], 0):
            raise refused(f"only the batch of {name} may be empty, got {sizes_of(t)}")
    return 0


cdef int check_kind(Tensor grad_output, Tensor self) except -1:
    if self.c_dtype != grad_output.c_dtype:
        raise refused(f"grad_output must be {dtypes.get_dtype(self.c_dtype)!r}, got "
                      f"{dtypes.get_dtype(grad_output.c_dtype)!r}")
    return 0


cdef int set_format(Spec* s, int memory_format) except -1:
    if memory_format != MF_contiguous:
        rules.strides_for(s.strides, s.sizes, s.ndim, memory_format)
        s.has_strides = True
    return 0


cdef int resized(Spec* s, Tensor self, IntArray output_size, int code, bint keeps_format) except -1:
    """`self` with other spatial sizes."""
    cdef int dims = <int>output_size.len
    s.ndim, s.dtype = self.c_ndim, code
    memcpy(s.sizes, self.c_sizes, (self.c_ndim - dims) * sizeof(int64_t))
    memcpy(s.sizes + self.c_ndim - dims, output_size.data, dims * sizeof(int64_t))
    return set_format(s, rules.suggest_memory_format(self) if keeps_format else MF_contiguous)


cdef int like(Spec* s, Tensor self, bint keeps_format) except -1:
    s.ndim, s.dtype = self.c_ndim, self.c_dtype
    memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    return set_format(s, rules.suggest_memory_format(self) if keeps_format else MF_contiguous)


# ---- adaptive ----------------------------------------------------------------------------------

cdef int adaptive_average(Spec* s, Tensor self, IntArray output_size, int dims) except -1:
    cdef int i
    check_count("output_size", output_size, dims)
    check_dims("self", self, dims)
    for i in range(dims):
        if lt(output_size.data[i], 0):
            raise refused(f"output_size must not be negative, got {list(new_size(dims, output_size.data))}")
    for i in range(1 if dims == 3 else self.c_ndim - dims, self.c_ndim):
        if rules.is_eager(self) and self.c_sizes[i] == 0:
            raise refused(f"self must have elements to average, got {sizes_of(self)}")
    return resized(s, self, output_size, self.c_dtype, dims == 2)


cdef int adaptive_avg_pool2d(Spec* s, Tensor self, IntArray output_size) except -1:
    return adaptive_average(s, self, output_size, 2)


cdef int adaptive_avg_pool3d(Spec* s, Tensor self, IntArray output_size) except -1:
    return adaptive_average(s, self, output_size, 3)


cdef int adaptive_avg_pool2d_backward(Spec* s, Tensor grad_output, Tensor self) except -1:
    check_elements("grad_output", grad_output, 1)
    check_dims("grad_output", grad_output, 2)
    check_kind(grad_output, self)
    like(s, self, False)
    if rules.suggest_memory_format(self) == MF_channels_last:
        set_format(s, MF_channels_last)
    return 0


cdef int adaptive_avg_pool3d_backward(Spec* s, Tensor grad_output, Tensor self) except -1:
    check_elements("grad_output", grad_output, 1)
    s.cast |= COPIED
    return like(s, self, False)


cdef int adaptive_largest(Spec* s, Tensor self, IntArray output_size, int dims) except -1:
    check_dims("self", self, dims)
    check_elements("self", self, 1)
    check_count("output_size", output_size, dims)
    s[0].cast |= COPIED
    s[1].cast |= COPIED
    resized(&s[0], self, output_size, self.c_dtype, dims == 2)
    return resized(&s[1], self, output_size, ST_int64, dims == 2)


cdef int adaptive_max_pool2d(Spec* s, Tensor self, IntArray output_size) except -1:
    return adaptive_largest(s, self, output_size, 2)


cdef int adaptive_max_pool3d(Spec* s, Tensor self, IntArray output_size) except -1:
    return adaptive_largest(s, self, output_size, 3)


cdef int adaptive_max_pool2d_backward(Spec* s, Tensor grad_output, Tensor self, Tensor indices) except -1:
    check_dims("grad_output", grad_output, 2)
    check_elements("grad_output", grad_output, 1)
    check_kind(grad_output, self)
    s.cast |= COPIED
    return like(s, self, True)


cdef int adaptive_max_pool3d_backward(Spec* s, Tensor grad_output, Tensor self, Tensor indices) except -1:
    check_elements("grad_output", grad_output, 1)
    s.cast |= COPIED
    return like(s, self, False)


# ---- fractional --------------------------------------------------------------------------------

cdef int fractional(Spec* s, Tensor self, IntArray kernel_size, IntArray output_size, Tensor samples, int dims) except -1:
    cdef int i, lead = self.c_ndim - dims
    cdef bint fits, exactly
    check_dims("self", self, dims)
    check_elements("self", self, lead - 1)
    check_count("kernel_size", kernel_size, dims)
    check_count("output_size", output_size, dims)
    if self.c_dtype != samples.c_dtype:
        raise refused(f"expected random_samples to be {dtypes.get_dtype(self.c_dtype)!r}, got "
                      f"{dtypes.get_dtype(samples.c_dtype)!r}")
    exactly = dims == 2 or rules.is_eager(self)      # PyTorch's shape function of volumes does not look
    fits = samples.c_ndim == 3 and agree(samples.c_sizes[1], self.c_sizes[lead - 1], exactly) and \
        agree(samples.c_sizes[2], dims, exactly)
    if fits and exactly:
        fits = not lt(samples.c_sizes[0], self.c_sizes[0] if lead > 1 else 1)
    if not fits:
        raise refused(f"expected random_samples (batch, channels, {dims}) for self {sizes_of(self)}, got "
                      f"{sizes_of(samples)}")
    for i in range(dims):
        if gt(add(add(output_size.data[i], kernel_size.data[i]), (dims == 3) - 1), self.c_sizes[lead + i]):
            raise refused(f"kernel_size {list(new_size(dims, kernel_size.data))} is too large for self "
                          f"{sizes_of(self)} and output_size {list(new_size(dims, output_size.data))}")
        if lt(output_size.data[i], 0) or lt(kernel_size.data[i], 0):
            raise refused(f"kernel_size and output_size must not be negative, got "
                          f"{list(new_size(dims, kernel_size.data))} and {list(new_size(dims, output_size.data))}")
    resized(&s[0], self, output_size, self.c_dtype, False)
    return resized(&s[1], self, output_size, ST_int64, False)


cdef int fractional_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                             IntArray output_size, int dims) except -1:
    cdef int i, lead = self.c_ndim - dims
    check_dims("self", self, dims)
    check_count("output_size", output_size, dims)
    for i in range(dims):
        if grad_output.c_ndim != self.c_ndim or not expect_eq(grad_output.c_sizes[lead + i], output_size.data[i]):
            raise refused(f"expected grad_output to have output_size {list(new_size(dims, output_size.data))}, "
                          f"got {sizes_of(grad_output)}")
    return like(s, self, False)


cdef int fractional_max_pool2d(Spec* s, Tensor self, IntArray kernel_size, IntArray output_size,
                               Tensor random_samples) except -1:
    return fractional(s, self, kernel_size, output_size, random_samples, 2)


cdef int fractional_max_pool3d(Spec* s, Tensor self, IntArray kernel_size, IntArray output_size,
                               Tensor random_samples) except -1:
    return fractional(s, self, kernel_size, output_size, random_samples, 3)


cdef int fractional_max_pool2d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                                        IntArray output_size, Tensor indices) except -1:
    return fractional_backward(s, grad_output, self, kernel_size, output_size, 2)


cdef int fractional_max_pool3d_backward(Spec* s, Tensor grad_output, Tensor self, IntArray kernel_size,
                                        IntArray output_size, Tensor indices) except -1:
    return fractional_backward(s, grad_output, self, kernel_size, output_size, 3)


# ---- unpooling ---------------------------------------------------------------------------------

cdef int unpooled(Spec* s, Tensor self, Tensor indices, IntArray output_size, int dims) except -1:
    cdef int i
    cdef bint fits = self.c_ndim == indices.c_ndim
    if indices.c_dtype != ST_int64:
        raise refused(f"expected indices to be int64, got {dtypes.get_dtype(indices.c_dtype)!r}")
    check_dims("self", self, dims)
    check_count("output_size", output_size, dims)
    for i in range(self.c_ndim):
        fits = fits and expect_eq(self.c_sizes[i], indices.c_sizes[i])
    if not fits:
        raise refused("Expected shape of indices to be same as that of the input tensor "
                      f"({sizes_of(self)}) but got indices tensor with shape: {sizes_of(indices)}")
    check_elements("self", self, 1)
    for i in range(dims):
        if lt(output_size.data[i], 0):
            raise refused(f"output_size must not be negative, got {list(new_size(dims, output_size.data))}")
    s.cast |= COPIED
    if dims == 3 or not rules.is_eager(self):
        return resized(s, self, output_size, self.c_dtype, False)
    resized(s, self, output_size, self.c_dtype, True)
    return restride_given(s)


cdef int max_unpool2d(Spec* s, Tensor self, Tensor indices, IntArray output_size) except -1:
    return unpooled(s, self, indices, output_size, 2)


cdef int max_unpool3d(Spec* s, Tensor self, Tensor indices, IntArray output_size, IntArray stride,
                      IntArray padding) except -1:
    cdef int i
    check_count("stride", stride, 3)
    check_count("padding", padding, 3)
    for i in range(3):
        if stride.data[i] <= 0:
            raise refused(f"stride must be positive, got {list(new_size(3, stride.data))}")
    return unpooled(s, self, indices, output_size, 3)
