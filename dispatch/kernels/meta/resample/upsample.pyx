"""Shape functions of interpolation: sizes of the result, and of the gradient of what it was made from.

Called by the structured kernels of `upsample_*`. A result keeps the memory format that the input
suggests; on cuda PyTorch has channels_last kernels for many channels only. Which of the gradients
keep it too is PyTorch's choice.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport DEV_CUDA, MF_contiguous
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport COPIED, Spec
from dispatch._C.symbolic cimport eq_or_false, expect_eq, ge, le
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules

cdef enum:                       # channels from which results are channels_last on cuda
    ANYWHERE = 0
    CUDA_NEAREST = 1             # any: PyTorch's shape function asks its own device, which is meta
    CUDA_BILINEAR = 16
    NO_CHANNELS_LAST = -1        # not on any device


cdef object as_list(int n, const int64_t* values):
    return list(new_size(n, values))


cdef int check_count(str name, IntArray given, int wanted) except -1:
    if given.len != wanted:
        raise refused(f"expected {name} to have {wanted} numbers, got {as_list(<int>given.len, given.data)}")
    return 0


cdef bint has_zero(const int64_t* sizes, int n) except -1:
    cdef int i
    for i in range(n):
        if eq_or_false(sizes[i], 0):
            return True
    return False


cdef int check_positive(const int64_t* sizes, const int64_t* output, int dims) except -1:
    cdef int i
    for i in range(dims):
        if le(sizes[i], 0) or le(output[i], 0):
            raise refused("Input and output sizes should be greater than 0, got "
                          f"{as_list(dims, sizes)} and {as_list(dims, output)}")
    return 0


cdef int set_format(Spec* s, Tensor like, bint converted) except -1:
    """`converted`: PyTorch's Meta kernel makes the result contiguous first, and leaves it where it is in the format so."""
    cdef int memory_format = rules.suggest_memory_format(like)
    if converted and s.ndim == 4 and not rules.is_eager(like):
        rules.contiguous_strides(s.strides, s.sizes, s.ndim)
        if rules.is_channels_last(s.sizes, s.strides, s.ndim):
            return 0
    if memory_format != MF_contiguous:
        rules.strides_for(s.strides, s.sizes, s.ndim, memory_format)
        s.has_strides = True
    return 0


cdef int resized(Spec* s, Tensor self, IntArray output_size, int dims, int cuda_channels,
                 bint copied) except -1:
    """`self` with other spatial sizes; on meta, those that are `copied` take self and sizes of 0, as in PyTorch."""
    check_count("output_size", output_size, dims)
    if self.c_ndim != dims + 2:
        raise refused(f"expected self to have {dims + 2} dimensions, got {as_list(self.c_ndim, self.c_sizes)}")
    if rules.is_eager(self) or not copied:
        check_positive(self.c_sizes + 2, output_size.data, dims)
        if has_zero(self.c_sizes + 1, self.c_ndim - 1):
            raise refused(f"only the batch of self may be empty, got {as_list(self.c_ndim, self.c_sizes)}")
    s.ndim, s.dtype = self.c_ndim, self.c_dtype
    memcpy(s.sizes, self.c_sizes, 2 * sizeof(int64_t))
    memcpy(s.sizes + 2, output_size.data, dims * sizeof(int64_t))
    if copied:
        s.cast |= COPIED
    if cuda_channels >= 0 and (self.c_devtype != DEV_CUDA or ge(self.c_sizes[1], cuda_channels)):
        set_format(s, self, cuda_channels > 0)
    return 0


cdef int restored(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size, int dims,
                  bint keeps_format) except -1:
    """`input_size`, given the gradient of a result with `output_size`."""
    cdef int i, ndim = dims + 2
    check_count("output_size", output_size, dims)
    check_count("input_size", input_size, ndim)
    check_positive(input_size.data + 2, output_size.data, dims)
    for i in range(ndim):
        if grad_output.c_ndim != ndim or \
                not expect_eq(grad_output.c_sizes[i], input_size.data[i] if i < 2 else output_size.data[i - 2]):
            raise refused(f"grad_output {as_list(grad_output.c_ndim, grad_output.c_sizes)} does not fit "
                          f"input_size {as_list(ndim, input_size.data)} and "
                          f"output_size {as_list(dims, output_size.data)}")
    s.ndim, s.dtype = ndim, grad_output.c_dtype
    memcpy(s.sizes, input_size.data, ndim * sizeof(int64_t))
    if keeps_format:
        set_format(s, grad_output, False)
    return 0


cdef int nearest1d(Spec* s, Tensor self, IntArray output_size, object scales) except -1:
    return resized(s, self, output_size, 1, NO_CHANNELS_LAST, False)


cdef int nearest2d(Spec* s, Tensor self, IntArray output_size, object scales_h,
                   object scales_w) except -1:
    return resized(s, self, output_size, 2, CUDA_NEAREST, False)


cdef int nearest3d(Spec* s, Tensor self, IntArray output_size, object scales_d, object scales_h,
                   object scales_w) except -1:
    return resized(s, self, output_size, 3, ANYWHERE, False)


cdef int linear1d(Spec* s, Tensor self, IntArray output_size, bint align_corners,
                  object scales) except -1:
    return resized(s, self, output_size, 1, NO_CHANNELS_LAST, True)


cdef int linear2d(Spec* s, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                  object scales_w) except -1:
    return resized(s, self, output_size, 2, CUDA_BILINEAR, True)


cdef int linear3d(Spec* s, Tensor self, IntArray output_size, bint align_corners, object scales_d,
                  object scales_h, object scales_w) except -1:
    return resized(s, self, output_size, 3, ANYWHERE, True)


cdef int nearest1d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales) except -1:
    return restored(s, grad_output, output_size, input_size, 1, False)


cdef int nearest2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales_h, object scales_w) except -1:
    return restored(s, grad_output, output_size, input_size, 2, True)


cdef int nearest3d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales_d, object scales_h, object scales_w) except -1:
    return restored(s, grad_output, output_size, input_size, 3, False)


cdef int linear1d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales) except -1:
    return restored(s, grad_output, output_size, input_size, 1, False)


cdef int linear2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales_h, object scales_w) except -1:
    return restored(s, grad_output, output_size, input_size, 2, True)


cdef int linear3d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales_d, object scales_h,
                           object scales_w) except -1:
    return restored(s, grad_output, output_size, input_size, 3, True)


cdef int smooth2d(Spec* s, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                  object scales_w) except -1:
    return resized(s, self, output_size, 2, ANYWHERE, False)


cdef int lanczos2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            bint align_corners, object scales_h, object scales_w) except -1:
    return restored(s, grad_output, output_size, input_size, 2, not rules.is_eager(grad_output))


cdef int bicubic2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            bint align_corners, object scales_h, object scales_w) except -1:
    return restored(s, grad_output, output_size, input_size, 2, False)
